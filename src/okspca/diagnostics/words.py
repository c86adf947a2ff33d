"""Two errors, two lines: what the solver left, and what the sample leaves."""

from okspca.diagnostics.certificate import Certificate
from okspca.diagnostics.stability import Stability


def error_lines(certificate: Certificate | None, stability: Stability | str) -> str:
    """Say how far the delivered basis is from the exact one, and that from the population's.

    Parameters
    ----------
    certificate : Certificate or None
        What is proven about the delivered basis; None where there is none to certify.
    stability : Stability or str
        What is estimated about the exact one, or why there is no estimate.

    Examples
    --------
    >>> print(error_lines(None, "not estimated: make the model with stability=8"))
    delivered vs exact (proven):        nothing to certify: there is no basis of the present rows
    exact vs population (estimated):    not estimated: make the model with stability=8
    """
    proven = "nothing to certify: there is no basis of the present rows"
    if certificate is not None:
        proven = str(certificate)
    estimated = stability if isinstance(stability, str) else " ".join(str(stability).splitlines())
    return (
        f"delivered vs exact (proven):        {proven}\n"
        f"exact vs population (estimated):    {estimated}"
    )

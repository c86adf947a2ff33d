"""The descent by gradients: where it arrives, and what it does where it cannot."""

from itertools import pairwise

import numpy as np
from numpy.random import RandomState
from scipy.optimize import minimize, rosen, rosen_der

from okspca.numerics.arrays import Floats
from okspca.numerics.lbfgs import LBFGS, MEMORY


def rosenbrock(x: Floats) -> tuple[float, Floats]:
    return float(rosen(x)), np.asarray(rosen_der(x))


def test_it_reaches_the_bottom_of_a_curved_valley() -> None:
    descent = LBFGS(rosenbrock, np.array([-1.2, 1.0, -0.5, 2.0]))
    while descent.value > 1e-12 and descent.steps < 300 and not descent.is_stuck:
        descent.step()
    np.testing.assert_allclose(descent.x, np.ones(4), atol=1e-4)


def test_a_quadratic_takes_about_as_many_steps_as_elsewhere() -> None:
    """With curvatures over four decades; SciPy's form of the method is the measure."""
    random = RandomState(0)
    Q = np.linalg.qr(random.normal(size=(30, 30)))[0]
    A = (Q * np.logspace(-2, 2, 30)) @ Q.T

    def valley(x: Floats) -> tuple[float, Floats]:
        return float(0.5 * x @ A @ x), A @ x

    start = random.normal(size=30)
    elsewhere = minimize(valley, start, jac=True, method="L-BFGS-B", options={"maxcor": MEMORY})
    descent = LBFGS(valley, start)
    while descent.value > elsewhere.fun and descent.steps < 2 * elsewhere.nit:
        descent.step()
        assert not descent.is_stuck
    assert descent.value <= elsewhere.fun


def test_values_never_rise() -> None:
    descent, values = LBFGS(rosenbrock, np.array([-1.2, 1.0])), []
    for _ in range(30):
        values.append(descent.value)
        descent.step()
    assert all(later <= earlier for earlier, later in pairwise(values))


def test_it_says_where_no_step_leads_down() -> None:
    flat = LBFGS(lambda x: (1.0, np.zeros_like(x)), np.ones(3))
    flat.step()
    lying = LBFGS(lambda x: (float((x**2).sum()), -2.0 * x), np.ones(3))
    lying.step()
    nowhere = LBFGS(lambda x: (0.0 if (x == 1.0).all() else np.nan, np.ones_like(x)), np.ones(3))
    nowhere.step()
    for descent in (flat, lying, nowhere):
        assert descent.is_stuck
        assert descent.steps == 0
        assert descent.x.tolist() == [1.0] * 3

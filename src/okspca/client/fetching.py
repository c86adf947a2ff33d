"""Models by their addresses, for commands."""

from typing import Any

from okspca.client.client import Client
from okspca.client.download import model_of, parts_of
from okspca.client.errors import ServiceError
from okspca.errors import StateError

#: A command is repeated by who typed it.
RETRIES = 2
REMEDY = "give one by the environment's OKSPCA_TOKEN, or by --token-file"


def fetch_model(address: str, token: str | None = None, timeout: float = 30.0) -> tuple[Any, Any]:
    """Ask a service for a model, and make it and the record of its stream.

    Raises
    ------
    StateError
        There is no service or no model, it may not be had, or it is not whole.
    """
    url, name = parts_of(address)
    try:
        with Client(url, token, timeout=timeout, retries=RETRIES) as client:
            return model_of(client.model(name).state())
    except ServiceError as failure:
        told = str(failure)
        if failure.status in (401, 403):
            told = f"{told.rstrip('.')}; {REMEDY}."
        message = f"{address} cannot be fetched: {told}"
        raise StateError(message) from failure
    except StateError as failure:
        message = f"{address} cannot be loaded: {failure}"
        raise StateError(message) from failure

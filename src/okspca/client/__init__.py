"""A client of `okspca serve` that needs nothing but the standard library.

::

    from okspca.client import Client

    client = Client("http://127.0.0.1:8787", token, source="line-3")
    plant = client.model("plant")
    plant.learn(X, y)
    plant.predict(X)

With a ``source`` everything that teaches a model carries a number, and the service learns each
number once: lost connections and answers are repeated until the service has said that the rows are
safe.
"""

from okspca.client.client import Client
from okspca.client.errors import ServiceError, UndecidedError
from okspca.client.events import Event
from okspca.client.remote_model import Learned, RemoteModel

__all__ = ["Client", "Event", "Learned", "RemoteModel", "ServiceError", "UndecidedError"]

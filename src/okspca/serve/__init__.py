"""The service: models that learn from requests and answer them, over HTTP."""

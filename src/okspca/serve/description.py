"""The service described in OpenAPI, made of the list of routes."""

import re
from typing import Any

from okspca import __version__
from okspca.serve.bodies import ARROW, JSON, NDJSON
from okspca.serve.routes import WAYS, Way
from okspca.serve.web import STATE

#: What may stand in a query.
QUERY: dict[str, dict[str, Any]] = {
    "source": {"description": "Who sends this.", "schema": {"type": "string", "maxLength": 128}},
    "sequence": {
        "description": "The number of this request among those of its source; the first is 1.",
        "schema": {"type": "integer", "minimum": 1},
    },
    "on_error": {
        "description": "What becomes of rows that cannot be learned.",
        "schema": {"type": "string", "enum": ["refuse", "set-aside"], "default": "refuse"},
    },
    "wait": {
        "description": "Answer when the rows are on the disk, or when they are in the model.",
        "schema": {"type": "string", "enum": ["durable", "learned"], "default": "durable"},
    },
    "vectors": {
        "description": "Whether the vectors are told.",
        "schema": {"type": "string", "enum": ["false", "true"], "default": "false"},
    },
}
OF_CHANGES = {
    "400": "The request is not what it says it is.",
    "409": "A number is missing (`expected` says which), or not as things stand.",
    "413": "The body is too large.",
    "415": "The body has another type.",
    "422": "A row cannot be learned; `row` and `column` say where. Nothing was.",
    "429": "Too much at once; `Retry-After` says when to send it again.",
    "503": "The journal cannot be written.",
    "507": "The disk is full.",
}
OF_ASKING = {"409": "The model cannot answer yet."}
OF_ALL = {"401": "A token is needed.", "403": "The token does not allow it."}


def description() -> dict[str, Any]:
    """The whole description."""
    paths: dict[str, dict[str, Any]] = {}
    for way in WAYS:
        path = way.path.replace(":path", "")
        paths.setdefault(path, {})[way.method.lower()] = operation(way)
    bearer = {"type": "http", "scheme": "bearer"}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "okspca",
            "version": __version__,
            "description": "Models that learn a stream and answer at any moment. A change is "
            "acknowledged when it is on the disk; with a source and its numbers it counts once, "
            "however often it is sent.",
        },
        "paths": paths,
        "components": {"securitySchemes": {"token": bearer}, "schemas": SCHEMAS},
    }


#: What bodies consist of.
SCHEMAS: dict[str, Any] = {
    "Row": {
        "type": "object",
        "required": ["x"],
        "additionalProperties": False,
        "properties": {
            "x": {
                "oneOf": [
                    {"type": "array", "items": {"type": ["number", "null"]}},
                    {"type": "object", "additionalProperties": {"type": ["number", "null"]}},
                ]
            },
            "y": {"description": "A label, a number, or several numbers."},
            "id": {"type": "string", "maxLength": 128},
        },
    },
    "Error": {
        "type": "object",
        "required": ["error"],
        "properties": {
            "error": {"type": "string"},
            "row": {"type": "integer"},
            "column": {},
            "expected": {"type": "integer"},
        },
    },
}


def operation(way: Way) -> dict[str, Any]:
    """One route."""
    found: dict[str, Any] = {
        "operationId": f"{way.method.lower()}_{way.name}",
        "summary": way.told,
        "parameters": _parameters(way),
        "responses": _responses(way),
        "security": [] if way.role == "anyone" else [{"token": []}],
        "x-role": way.role,
    }
    if way.accepts:
        found["requestBody"] = {"required": True, "content": _content(way)}
    return found


def _parameters(way: Way) -> list[dict[str, Any]]:
    """What stands in its path and in its query."""
    named = re.findall(r"{(\w+)", way.path)
    in_path = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in named
    ]
    return in_path + [{"name": name, "in": "query", **QUERY[name]} for name in way.query]


def _content(way: Way) -> dict[str, Any]:
    """Bodies that it takes."""
    content: dict[str, Any] = {}
    for kind in way.accepts:
        if kind in (ARROW, STATE):
            content[kind] = {"schema": {"type": "string", "format": "binary"}}
        elif kind == NDJSON:
            content[kind] = {"schema": {"type": "string"}}
        else:
            content[kind] = {"schema": {"type": "object"}, "example": way.example}
    return content


def _responses(way: Way) -> dict[str, Any]:
    """What it may answer."""
    schema = {"type": "object"} if way.answers == JSON else {"type": "string"}
    found: dict[str, Any] = {
        str(way.status): {"description": way.told, "content": {way.answers: {"schema": schema}}}
    }
    refusals = {} if way.role == "anyone" else dict(OF_ALL)
    refusals |= OF_CHANGES if way.accepts else {}
    refusals |= OF_ASKING if way.role == "ask" else {}
    if "{model}" in way.path:
        refusals["404"] = "There is no model of this name."
    error = {JSON: {"schema": {"$ref": "#/components/schemas/Error"}}}
    found |= {code: {"description": told, "content": error} for code, told in refusals.items()}
    return found

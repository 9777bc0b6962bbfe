"""The operations of the API, as the page ``/docs`` shows them."""

from __future__ import annotations

from typing import Any, NamedTuple

from tellback.specs import Data


class Field(NamedTuple):
    """A parameter, or a field of a body or an answer."""

    name: str
    type: str
    required: bool
    says: str


class Operation(NamedTuple):
    """An operation."""

    id: str
    method: str
    path: str
    says: str
    parameters: list[Field]
    body: list[Field]
    answer: list[Field]
    statuses: dict[str, str]


def described_operations(description: Data) -> dict[str, list[Operation]]:
    """The operations of an OpenAPI description, by their tag."""
    schemas = description["components"]["schemas"]
    groups: dict[str, list[Operation]] = {}
    for path, methods in description["paths"].items():
        for method, one in methods.items():
            groups.setdefault(one["tags"][0], []).append(_operation(path, method, one, schemas))
    return groups


def _operation(path: str, method: str, one: Data, schemas: Data) -> Operation:
    responses: dict[str, Any] = one["responses"]
    good: Data = next((responses[status] for status in sorted(responses) if status < "300"), {})
    return Operation(
        one["operationId"],
        method.upper(),
        path,
        one.get("description", ""),
        [
            Field(
                given["name"],
                _type(given["schema"]),
                given.get("required", False),
                given.get("description", ""),
            )
            for given in one.get("parameters", ())
        ],
        _fields(one.get("requestBody", {}), schemas),
        _fields(good, schemas),
        {status: answer["description"] for status, answer in sorted(responses.items())},
    )


def _fields(part: Data, schemas: Data) -> list[Field]:
    """The fields of the JSON of a body or an answer."""
    schema = part.get("content", {}).get("application/json", {}).get("schema", {})
    schema = schemas.get(_name(schema), schema)
    needed = schema.get("required", ())
    return [
        Field(name, _type(value), name in needed, value.get("description", ""))
        for name, value in schema.get("properties", {}).items()
    ]


def _name(schema: Data) -> str:
    return str(schema.get("$ref", "")).rpartition("/")[2]


def _type(schema: Data) -> str:
    """The type of a value in a few words."""
    if "anyOf" in schema:
        return " or ".join(_type(one) for one in schema["anyOf"])
    if "enum" in schema:
        return " or ".join(map(repr, schema["enum"]))
    if "const" in schema:
        return repr(schema["const"])
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    return _name(schema) or str(schema.get("type", "any"))

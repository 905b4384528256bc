"""Conversion of pydantic models to strict, named schemas of the document."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, models_json_schema

type Schema = dict[str, Any]

_REF = "#/components/schemas/"

_MAX_INT32 = 2**31 - 1

_BOUNDS = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum"}
"""Constraint names that pydantic does not convert on a field with its own validator."""


class _AllFieldsRequired(GenerateJsonSchema):
    """Makes every field of a response required, including fields with a default."""

    def field_is_required(self, field: Any, total: bool) -> bool:  # noqa: FBT001 - pydantic's
        return self.mode == "serialization" or super().field_is_required(field, total)


def ref(name: str) -> Schema:
    """Return a reference to a schema of the document."""
    return {"$ref": _REF + name}


def nullable(schema: Schema) -> Schema:
    """Return the schema with null allowed, in its `type` if it has one."""
    if isinstance(schema.get("type"), str):
        widened = schema | {"type": [schema["type"], "null"]}
        if "enum" in schema:
            widened["enum"] = [*schema["enum"], None]
        return widened
    if "anyOf" in schema:
        return schema | {"anyOf": [*schema["anyOf"], {"type": "null"}]}
    return {"anyOf": [schema, {"type": "null"}]}


def component_schemas(
    bodies: Iterable[type[BaseModel]], answers: Iterable[type[BaseModel]]
) -> dict[str, Schema]:
    """Return the schemas of all models and of the models inside them, by name.

    Raises:
        ValueError: Two models have the same name.
    """
    schemas: dict[str, Schema] = {}
    for mode, models in (("validation", bodies), ("serialization", answers)):
        for name, schema in _schemas(models, mode).items():  # type: ignore[arg-type]
            if "__" in name or schemas.setdefault(name, schema) != schema:
                raise ValueError(f"Two models are called {name.rpartition('__')[2]}.")
    for name in [name for name, schema in schemas.items() if "oneOf" in schema]:
        schemas |= _alternatives(name, schemas[name])
    return dict(sorted(schemas.items()))


def _alternatives(name: str, schema: Schema) -> dict[str, Schema]:
    """Return a body of which exactly one field must be sent, as one object for each such field.

    Generators of clients understand alternatives only when each is a complete object.
    """
    choices = [one["required"][0] for one in schema["oneOf"]]
    shared = {key: value for key, value in schema["properties"].items() if key not in choices}
    found: dict[str, Schema] = {}
    for field in choices:
        whole = _not_nullable(schema["properties"][field])
        found[f"{name}With{field.title().replace('_', '')}"] = {
            **{key: value for key, value in schema.items() if key != "oneOf"},
            "properties": {field: whole, **shared},
            "required": [*schema.get("required", ()), field],
        }
    description = schema.get("description", "")
    return {**found, name: {"description": description, "oneOf": [ref(one) for one in found]}}


def _not_nullable(schema: Schema) -> Schema:
    """Return a schema that allows null without null."""
    if isinstance(schema.get("type"), list):
        return {**schema, "type": next(one for one in schema["type"] if one != "null")}
    return _not_null(schema)


def with_integer_formats(node: Any) -> Any:
    """Return a part of the document whose integers of more than 32 bits say so.

    Generated clients in Java, C# and Go read an integer without a format as one of 32 bits.
    """
    if isinstance(node, list):
        return [with_integer_formats(one) for one in node]
    if not isinstance(node, dict):
        return node
    kind = node.get("type")
    is_integer = kind == "integer" or (isinstance(kind, list) and "integer" in kind)
    is_long = is_integer and "enum" not in node and node.get("maximum", _MAX_INT32 + 1) > _MAX_INT32
    widened = {name: with_integer_formats(one) for name, one in node.items()}
    return {"type": kind, "format": "int64", **widened} if is_long else widened


def query_parameters(model: type[BaseModel]) -> dict[str, Schema]:
    """Return the schema of each query parameter by name, without null."""
    definitions = _definitions([model], "validation")
    fields = definitions[model.__name__]["properties"]
    return {
        name: _clean(_not_null(field), definitions, defaults=True) for name, field in fields.items()
    }


def _definitions(
    models: Iterable[type[BaseModel]], mode: Literal["validation", "serialization"]
) -> dict[str, Schema]:
    wanted = [(model, mode) for model in dict.fromkeys(models)]
    _, schema = models_json_schema(
        wanted, ref_template=_REF + "{model}", schema_generator=_AllFieldsRequired
    )
    found: dict[str, Schema] = schema.get("$defs", {})
    return found


def _schemas(
    models: Iterable[type[BaseModel]], mode: Literal["validation", "serialization"]
) -> dict[str, Schema]:
    definitions = _definitions(models, mode)
    return {
        name: _clean(schema, definitions)
        for name, schema in definitions.items()
        if "properties" in schema or _is_named_enum(name, schema)
    }


def _is_named_enum(name: str, schema: Schema) -> bool:
    """Return whether a type is an enum whose name no other type of the document has."""
    return "enum" in schema and "__" not in name


def _not_null(schema: Schema) -> Schema:
    alternatives = [one for one in schema.get("anyOf", ()) if one != {"type": "null"}]
    if len(alternatives) != 1:
        return schema
    return {**{key: value for key, value in schema.items() if key != "anyOf"}, **alternatives[0]}


def _clean(schema: Any, definitions: Mapping[str, Schema], *, defaults: bool = False) -> Any:
    """Inline value types, write null as a type, and remove redundant keywords."""
    if isinstance(schema, list):
        return [_clean(entry, definitions, defaults=defaults) for entry in schema]
    if not isinstance(schema, dict):
        return schema
    name = str(schema.get("$ref", "")).removeprefix(_REF)
    target = definitions.get(name, {})
    is_kept = "properties" in target or (not defaults and _is_named_enum(name, target))
    if target and not is_kept:
        more = {key: value for key, value in schema.items() if key != "$ref"}
        return _clean({**target, **more}, definitions, defaults=defaults)
    clean = {
        _BOUNDS.get(key, key): (
            {name: _clean(field, definitions, defaults=defaults) for name, field in value.items()}
            if key == "properties"
            else _clean(value, definitions, defaults=defaults)
        )
        for key, value in sorted(schema.items(), key=lambda pair: pair[0] != "type")
        if not _is_redundant(key, value, defaults=defaults)
    }
    values = clean.get("enum")
    if isinstance(values, list) and "x-enum-varnames" not in clean:
        clean["x-enum-varnames"] = names_of_values(values)
    alternatives = clean.get("anyOf", [])
    if len(alternatives) == 2 and {"type": "null"} in alternatives:  # noqa: PLR2004 - T | None
        (other,) = (one for one in alternatives if one != {"type": "null"})
        rest = {key: value for key, value in clean.items() if key != "anyOf"}
        return {**nullable(other), **rest}
    return clean


def names_of_values(values: Sequence[object]) -> list[str]:
    """Return the names that generated clients give the values of an enum of texts."""
    return [
        re.sub(r"\W+", "_", text.removeprefix("-")).upper() + ("_DESC" if text[0] == "-" else "")
        for text in values
        if isinstance(text, str)
    ]


def _is_redundant(key: str, value: Any, *, defaults: bool) -> bool:
    """Return whether a keyword is redundant: titles, and the defaults of omitted body fields."""
    return (key == "title" and isinstance(value, str)) or (
        key == "default" and (value is None or not defaults)
    )

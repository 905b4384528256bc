"""The headers that list the query parameters and body fields that a route ignored."""

from collections.abc import Container, Iterable, Iterator, Mapping
from functools import cache
from itertools import islice
from typing import Any, get_args
from urllib.parse import quote

from pydantic import BaseModel

_MOST_PARAMETERS, _PARAMETER_CHARACTERS = 10, 64
_MOST_FIELDS, _FIELD_CHARACTERS = 20, 100
"""Names in a header, and characters of each, which the caller chose: fields have 2 kB in all."""


def ignored_parameters(query: Iterable[str], known: Container[str]) -> dict[str, str]:
    """Return the header that names the query parameters that the route does not have."""
    unknown = (name for name in query if name not in known)
    return _header("X-Ignored-Parameters", unknown, _MOST_PARAMETERS, _PARAMETER_CHARACTERS)


def ignored_fields(body: type[BaseModel] | None, sent: object) -> dict[str, str]:
    """Return the header that names the fields of a valid body that its model does not have."""
    return _header("X-Ignored-Fields", _unknown(body, sent), _MOST_FIELDS, _FIELD_CHARACTERS)


def _unknown(model: type[BaseModel] | None, sent: object, path: str = "") -> Iterator[str]:
    """Yield the paths of unknown fields, as errors name them: `lines.3.unit`."""
    if isinstance(sent, list):
        for at, entry in enumerate(sent):
            yield from _unknown(model, entry, f"{path}{at}.")
    elif isinstance(sent, dict):
        known = _parts(model) if model else {}
        for name, value in sent.items():
            if name not in known:
                yield path + name
            elif part := known[name]:
                yield from _unknown(part, value, f"{path}{name}.")


@cache
def _parts(model: type[BaseModel]) -> Mapping[str, type[BaseModel] | None]:
    """Return the fields of a model, each with the model of its value or of its entries."""
    return {
        field.alias or name: _model_in(field.annotation)
        for name, field in model.model_fields.items()
    }


def _model_in(annotation: Any) -> type[BaseModel] | None:
    annotation = getattr(annotation, "__value__", annotation)  # of a type alias
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next(filter(None, map(_model_in, get_args(annotation))), None)


def _header(header: str, names: Iterable[str], most: int, characters: int) -> dict[str, str]:
    shown = ", ".join(_shortened(name, characters) for name in islice(filter(None, names), most))
    return {header: shown} if shown else {}


def _shortened(name: str, characters: int) -> str:
    """Return the beginning of a name, percent-encoded; no character is cut in two."""
    shown = ""
    for char in name[:characters]:
        encoded = quote(char, safe="", errors="replace")
        if len(shown) + len(encoded) > characters:
            break
        shown += encoded
    return shown

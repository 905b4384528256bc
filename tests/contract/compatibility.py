"""What a change of the OpenAPI document takes from clients of an earlier one.

The rules are those of docs/reference/versioning.md, "What never changes within v1".
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

type Node = Mapping[str, Any]

_METHODS = ("get", "post", "put", "patch", "delete")
_UPPER = ("maxLength", "maximum", "maxItems", "exclusiveMaximum")
_LOWER = ("minLength", "minimum", "minItems", "exclusiveMinimum")


def broken_promises(before: Node, after: Node) -> list[str]:
    """Return what a client of the OpenAPI document `before` cannot rely on with `after`."""
    return [*_Comparison(before, after).problems()]


@dataclass(frozen=True, slots=True)
class _Comparison:
    before: Node
    after: Node
    _compared: set[tuple[object, ...]] = field(default_factory=set)
    """Names of schemas in both documents, whether clients send them, and whether as a status."""

    def problems(self) -> Iterator[str]:
        for path, methods in self.before["paths"].items():
            for method in (one for one in _METHODS if one in methods):
                where = f"{method.upper()} {path}"
                there = self.after["paths"].get(path, {}).get(method)
                if there is None:
                    yield f"{where}: removed"
                else:
                    yield from self._operation(methods[method], there, where)
        for kind, event in self.before["webhooks"].items():
            there = self.after["webhooks"].get(kind)
            if there is None:
                yield f"event {kind}: removed"
            else:
                yield from self._event(event["post"], there["post"], f"event {kind}")
        statuses = _statuses_of_codes(self.after)
        for code, found in _statuses_of_codes(self.before).items():
            if code not in statuses:
                yield f"error {code}: removed"
            elif lost := found - statuses[code]:
                yield f"error {code}: no longer has the status {', '.join(sorted(lost))}"

    # Operations and events

    def _operation(self, old: Node, new: Node, where: str) -> Iterator[str]:
        yield from _access(old, new, where)
        yield from self._parameters(old, new, where)
        yield from self._body(old.get("requestBody"), new.get("requestBody"), where)
        for status, response in old["responses"].items():
            if status not in new["responses"]:
                if status.startswith("2"):
                    yield f"{where}: no longer responds with {status}"
                continue
            one, other = self._both(response, new["responses"][status])
            for name in one.get("headers", {}).keys() - other.get("headers", {}).keys():
                yield f"{where}: {status} has no header {name}"
            yield from self._contents(one, other, f"{where}: {status}", sent=False)

    def _event(self, old: Node, new: Node, where: str) -> Iterator[str]:
        names = {one["name"] for one in new["parameters"]}
        for name in [one["name"] for one in old["parameters"] if one["name"] not in names]:
            yield f"{where}: has no header {name}"
        one, other = self._both(old["requestBody"], new["requestBody"])
        yield from self._contents(one, other, where, sent=False)

    def _parameters(self, old: Node, new: Node, where: str) -> Iterator[str]:
        former = {_place(one): one for one in self._resolved(old.get("parameters", []), old=True)}
        present = {_place(one): one for one in self._resolved(new.get("parameters", []))}
        for place, parameter in former.items():
            if place not in present:
                yield f"{where}: parameter {place} removed"
            else:
                schemas = parameter["schema"], _of_one_value(present[place])
                yield from self._schemas(*schemas, f"{where}: parameter {place}", sent=True)
        for place, parameter in present.items():
            if parameter.get("required") and not former.get(place, {}).get("required"):
                yield f"{where}: parameter {place} is required now"

    def _body(self, old: Node | None, new: Node | None, where: str) -> Iterator[str]:
        if new and new.get("required") and not (old and old.get("required")):
            yield f"{where}: the body is required now"
        if old and new:
            yield from self._contents(*self._both(old, new), f"{where}: body", sent=True)
        elif old:
            yield f"{where}: the body is not read any more"

    def _contents(self, old: Node, new: Node, where: str, *, sent: bool) -> Iterator[str]:
        for media, content in old.get("content", {}).items():
            other = new.get("content", {}).get(media)
            if other is None:
                yield f"{where}: no {media} any more"
            elif "schema" in content:
                yield from self._schemas(content["schema"], other["schema"], where, sent=sent)

    # Schemas

    def _schemas(self, old: Node, new: Node, where: str, *, sent: bool) -> Iterator[str]:
        """Compare the schemas of what a client sends or, if not `sent`, gets."""
        names = (old.get("$ref"), new.get("$ref"), sent, _is_status(where))
        if any(names[:2]):
            if names in self._compared:
                return
            self._compared.add(names)
        old, new = self._both(old, new)
        former, has_null = _alternatives(old)
        present, may_be_null = _alternatives(new)
        if sent and has_null and not may_be_null:
            yield f"{where}: null is refused now"
        if not sent and may_be_null and not has_null:
            yield f"{where}: may be null now"
        if len(former) == len(present) == 1:
            yield from self._single(former[0], present[0], where, sent=sent)
            return
        kept, among = (former, present) if sent else (present, former)
        for one in kept:
            if "x-only-with" in one:  # a client of the earlier release does not send this field
                continue
            pairs = ((one, other) if sent else (other, one) for other in among)
            if not any(self._is_compatible(*pair, sent=sent) for pair in pairs):
                yield f"{where}: {one} is {'refused' if sent else 'possible'} now"

    def _is_compatible(self, old: Node, new: Node, *, sent: bool) -> bool:
        return not any(_Comparison(self.before, self.after)._schemas(old, new, "", sent=sent))

    def _single(self, old: Node, new: Node, where: str, *, sent: bool) -> Iterator[str]:
        old, new = self._both(old, new)
        types = old.get("type"), new.get("type")
        if types[0] != types[1] and not (sent and types == ("integer", "number")):
            yield f"{where}: type {types[1]} instead of {types[0]}"
            return
        formats = old.get("format"), new.get("format")
        is_known_now = formats == (None, "int64")  # The integers of JSON have no size.
        if formats[0] != formats[1] and not is_known_now and not (sent and formats[1] is None):
            yield f"{where}: format {formats[1]} instead of {formats[0]}"
        yield from _values(old, new, where, sent=sent)
        if sent:
            yield from _bounds(old, new, where)
            if "default" in old and old["default"] != new.get("default"):
                yield f"{where}: default {new.get('default')} instead of {old['default']}"
        yield from self._fields(old, new, where, sent=sent)
        for name in ("items", "additionalProperties"):
            if isinstance(old.get(name), Mapping):
                inner = new.get(name)
                if inner is None and name == "additionalProperties" and sent:
                    continue  # fields of any type are accepted
                if isinstance(inner, Mapping):
                    yield from self._schemas(old[name], inner, f"{where}[]", sent=sent)
                else:
                    yield f"{where}: {name} removed"

    def _fields(self, old: Node, new: Node, where: str, *, sent: bool) -> Iterator[str]:
        former, present = old.get("properties", {}), new.get("properties", {})
        for name, schema in former.items():
            at = f"{where} {name}"
            if name not in present:
                yield f"{at}: removed"
            else:
                yield from self._schemas(schema, present[name], at, sent=sent)
        required = set(old.get("required", ())), set(new.get("required", ()))
        if sent:
            for name in sorted(required[1] - required[0]):
                yield f"{where} {name}: is required now"
            if "oneOf" in new and new["oneOf"] != old.get("oneOf"):
                yield f"{where}: one of other fields is required now"
        else:
            for name in sorted((required[0] - required[1]) & present.keys()):
                yield f"{where} {name}: may be missing now"

    # References

    def _both(self, old: Node, new: Node) -> tuple[Node, Node]:
        return _resolve(self.before, old), _resolve(self.after, new)

    def _resolved(self, nodes: Sequence[Node], *, old: bool = False) -> list[Node]:
        return [_resolve(self.before if old else self.after, node) for node in nodes]


def _resolve(document: Node, node: Node) -> Node:
    while "$ref" in node:
        found: Node = document
        for name in node["$ref"].removeprefix("#/").split("/"):
            found = found[name]
        node = found
    return node


def _place(parameter: Node) -> str:
    return f"{parameter['name']} ({parameter['in']})"


def _of_one_value(parameter: Node) -> Node:
    """Return the schema of a parameter; if it takes several values, that of one, which is enough.

    Only `explode: false` sends one value as before, whatever stands beside it.
    """
    schema: Node = parameter["schema"]
    takes_several = schema.get("type") == "array" and parameter.get("explode") is False
    return schema["items"] if takes_several else schema


def _access(old: Node, new: Node, where: str) -> Iterator[str]:
    for name in ("x-scope", "x-permission"):
        former, present = old.get(name), new.get(name)
        is_weaker = present is None or present == str(former).replace(":write", ":read")
        if former != present and not (is_weaker and name in old):
            yield f"{where}: {name} {present} instead of {former}"


def _alternatives(schema: Node) -> tuple[list[Node], bool]:
    """Return the schemas of the values that are not null, and whether null is one."""
    found: list[Node] = []
    has_null = False
    for one in schema.get("anyOf", [schema]):
        types = one.get("type")
        if types == "null":
            has_null = True
            continue
        if isinstance(types, list):
            has_null = has_null or "null" in types
            left = [each for each in types if each != "null"]
            one = {**one, "type": left[0] if len(left) == 1 else sorted(left)}  # noqa: PLW2901
        found.append(one)
    return found, has_null


def _values(old: Node, new: Node, where: str, *, sent: bool) -> Iterator[str]:
    """Compare enums. A response may get values; of a `status`, the client knows all."""
    former, present = _enum(old), _enum(new)
    if sent and present is not None:
        if former is None:
            yield f"{where}: only some values are accepted now"
        elif lost := former - present:
            yield f"{where}: {', '.join(sorted(map(str, lost)))} is refused now"
    if not sent and former is not None and _is_status(where):
        added = (former if present is None else present) - former
        if present is None or added:
            yield f"{where}: may be {', '.join(sorted(map(str, added))) or 'anything'} now"


def _is_status(where: str) -> bool:
    return where.endswith(" status")


def _enum(schema: Node) -> set[Any] | None:
    if "const" in schema:
        return {schema["const"]}
    return set(schema["enum"]) - {None} if "enum" in schema else None


def _bounds(old: Node, new: Node, where: str) -> Iterator[str]:
    for name in (*_UPPER, *_LOWER):
        sign = 1 if name in _UPPER else -1
        if name in new and (name not in old or sign * new[name] < sign * old[name]):
            yield f"{where}: {name} {new[name]} instead of {old.get(name)}"
    if "pattern" in new and new["pattern"] != old.get("pattern"):
        yield f"{where}: pattern {new['pattern']} instead of {old.get('pattern')}"


def _statuses_of_codes(document: Node) -> dict[str, set[str]]:
    """Return the HTTP statuses of each error code, over all responses."""
    found: dict[str, set[str]] = {}
    for methods in document["paths"].values():
        for method in (one for one in _METHODS if one in methods):
            for status, response in methods[method]["responses"].items():
                for code in _resolve(document, response).get("x-error-codes", ()):
                    found.setdefault(code, set()).add(status)
    return found

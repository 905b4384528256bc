"""What a tool is: a description for agents, its arguments, and the operations that it calls."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Protocol

from pydantic import ConfigDict, Field, StringConstraints

from shared.kernel.fields import Input

PER_PAGE = 20
"""Rows of a page in an answer, so that it stays small."""

type Data = dict[str, Any]


class Interface(Protocol):
    """The operations of the interface, called with the rights of the caller of the tool."""

    @property
    def today(self) -> str:
        """The day of the company, YYYY-MM-DD."""

    def get(self, path: str, query: Mapping[str, object] | None = None, *, id: int = 0) -> Data:  # noqa: A002 - its name in paths
        """Return the body of the response of a read; parameters that are None are left out.

        Raises:
            ServiceError: The operation refuses the request.
        """

    def post(self, path: str, body: Data, key: str, *, id: int = 0) -> Data:  # noqa: A002
        """Return the body of the response of a write under an Idempotency-Key.

        `replayed` is true in it when the request was carried out before, `is_new` when it created
        a resource. It raises as `get`.
        """


class Arguments(Input):
    """Base of the arguments of a tool, and of their parts; a field that is not known is refused."""

    model_config = ConfigDict(extra="forbid")


class Paged(Arguments):
    """Arguments of a tool that returns a list."""

    page: Annotated[int, Field(ge=1, le=10_000)] | None = Field(
        default=None, description="Page of 20 rows; default 1."
    )


class Write(Arguments):
    """Arguments of a tool that changes something."""

    idempotency_key: Annotated[str, StringConstraints(pattern=r"^[!-~]{1,200}$")] = Field(
        description="Name this intention, for example with a UUID. If the answer of a call is lost,"
        " or after an approval, repeat it with the same key and arguments: it takes effect once."
        " Take a new key for each new intention.",
    )

    def body(self) -> Data:
        """Return the arguments as the body of a request of the interface."""
        return self.model_dump(exclude_unset=True, exclude={"idempotency_key"})


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool. `operations` are names such as `GET /products/{id}`; it may call no others."""

    name: str
    title: str
    description: str
    arguments: type[Arguments]
    operations: Sequence[str]
    run: Callable[[Interface, Any], Data]

    @property
    def writes(self) -> bool:
        """Whether it changes anything."""
        return any(not name.startswith("GET ") for name in self.operations)

    def described(self) -> Data:
        """Return the entry of the tool in `tools/list`."""
        replaces = self.name.startswith("adjust_")
        hints = {"readOnlyHint": not self.writes, "openWorldHint": False}
        if self.writes:
            hints |= {"destructiveHint": replaces, "idempotentHint": True}
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": _schema(self.arguments),
            "annotations": hints,
        }


@dataclass(frozen=True, slots=True)
class Tools:
    """Tools of one subject, in the order of their declaration."""

    declared: list[Tool] = field(default_factory=list)

    def add[A: Arguments](
        self, title: str, description: str, *operations: str
    ) -> Callable[[Callable[[Interface, A], Data]], Callable[[Interface, A], Data]]:
        """Declare the decorated function as a tool of its name; it returns a small answer."""

        def register(run: Callable[[Interface, A], Data]) -> Callable[[Interface, A], Data]:
            arguments = run.__annotations__["args"]
            self.declared.append(Tool(run.__name__, title, description, arguments, operations, run))
            return run

        return register


def pick(row: Mapping[str, Any], names: str) -> Data:
    """Return the named fields of an object, separated by spaces, without those that are empty."""
    return {name: row[name] for name in names.split() if row.get(name) not in (None, "", [])}


def listed(answer: Data, names: str, rows: str = "rows") -> Data:
    """Return a page of a list with the named fields of its rows, and how many there are."""
    meta = answer["meta"]
    page = {"page": meta["current_page"], "pages": meta["last_page"], "total": meta["total"]}
    return {rows: [pick(row, names) for row in answer["data"]], **page}


def _schema(arguments: type[Arguments]) -> Data:
    """Return the JSON Schema of arguments without what only programs need."""
    whole = arguments.model_json_schema()
    compact: Data = _compact(whole, whole.get("$defs", {}))
    compact.pop("description", None)
    return compact


def _compact(schema: Any, definitions: Mapping[str, Any]) -> Any:
    """Return a schema with its definitions in place, and without titles and nulls."""
    if isinstance(schema, list):
        return [_compact(one, definitions) for one in schema]
    if not isinstance(schema, dict):
        return schema
    schema = {**schema, **definitions.get(str(schema.get("$ref", "")).rpartition("/")[2], {})}
    if "anyOf" in schema:
        [value] = [one for one in schema["anyOf"] if one.get("type") != "null"]
        schema = {**_compact(value, definitions), **schema}
    kept = {name: one for name, one in schema.items() if name not in _OMITTED}
    if "properties" in kept:
        parts = kept["properties"].items()
        kept["properties"] = {name: _compact(one, definitions) for name, one in parts}
    if "items" in kept:
        kept["items"] = _compact(kept["items"], definitions)
    return kept


_OMITTED = {"$ref", "$defs", "anyOf", "title", "default", "x-enum-varnames"}

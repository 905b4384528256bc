"""Several lines of goods in one request: checked together, applied in steps.

A body is one line, several `lines`, or a field that stands for all that is open. The first step
checks every line, and nothing is applied if one is refused. Each step records which lines are left,
so that a repeat of the request continues after it and returns the response that the request would
have returned.
"""

import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any, Literal, cast

from pydantic import BaseModel

from shared.kernel.db.items import inflate
from shared.kernel.db.steps import run_steps
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Conflict, Problem, RuleBlocked, ServiceError, ValidationFailed
from shared.kernel.fields import MAX_QUANTITY, Stored
from shared.kernel.json_text import dumps, loads
from shared.kernel.validation import Checked, InvalidBody, given_fields, problems_of
from shared.warehouse.catalog.drafts import own_lines, with_problems
from shared.warehouse.catalog.lines import differing_dates, numbered, repeated_serials
from shared.warehouse.catalog.models import GoodsDraft

MAX_LINES = 100
"""Most lines of one request."""

type Form = Literal["single", "lines", "all"]


class UnappliedLine(Stored):
    """A line that was not applied: another request made it impossible meanwhile.

    `line` is its index in the request; null if the request did not name lines.
    """

    line: int | None
    message: str


class UnappliedLines(Stored):
    """What several lines of one request did not do."""

    unapplied: list[UnappliedLine]


@dataclass(frozen=True, slots=True)
class SentLines[L: GoodsDraft]:
    """The lines that a body stands for, each invalid one with its own problems.

    `name` is the field that stands for all of them if the form is `all`, `beside` are the fields
    that it shares with them. `problems` are those of the body that no line has.
    """

    form: Form
    name: str
    lines: Sequence[Checked[L]]
    problems: Sequence[Problem] = ()
    beside: Sequence[str] = ()

    @property
    def paths(self) -> list[str]:
        """The paths of the lines in the body, as beginnings of the paths of their fields."""
        is_listed = self.form == "lines"
        return [f"lines.{at}." if is_listed else "" for at in range(len(self.lines))]

    def refuse(self, refused: Mapping[int, ServiceError], goods: Mapping[int, Checked[L]]) -> None:
        """Raise an error if the body has problems, or if lines are refused.

        Args:
            refused: Why the lines with these indexes are refused.
            goods: The lines in base units, with the codes of their products.

        Raises:
            ValidationFailed: The body or a line is invalid; has the problems of all lines.
            RuleBlocked: The body and its lines are valid, but a rule forbids some of them.
            Conflict: The stock does not allow some of the lines.
        """
        if self.form == "single" and refused:
            raise refused[0]
        found = dict.fromkeys(self.problems)
        for at, error in sorted(refused.items()):
            found |= dict.fromkeys(self._problems_of(at, goods[at], error))
        problems = list(found)
        is_invalid = any(isinstance(error, ValidationFailed) for error in refused.values())
        if self.problems or is_invalid:
            raise ValidationFailed(problems)
        if any(isinstance(error, RuleBlocked) for error in refused.values()):
            raise RuleBlocked(problems)
        if refused:
            count = f"{len(refused)} of {len(self.lines)} lines"
            raise Conflict(f"{count} cannot be applied; nothing was applied.", problems=problems)

    def _problems_of(self, at: int, goods: Checked[L], error: ServiceError) -> Iterator[Problem]:
        main = "serials" if getattr(goods, "serials", None) else "qty"
        for one in error.problems or [Problem(main, error.message.rstrip("."))]:
            if self.form == "all" and one.field in self.beside:
                yield one
            elif self.form == "all":
                yield Problem(self.name, f"{_place(goods)}: {one.message}")
            else:
                yield replace(one, field=f"{self.paths[at]}{one.field}".removesuffix("."))


def sent_lines[L: GoodsDraft](
    body: Checked[BaseModel],
    model: type[L],
    name: str,
    everything: Callable[[], Sequence[L]],
    *,
    beside: Sequence[str] = (),
) -> SentLines[L]:
    """Return the lines that a body stands for.

    Args:
        body: One line, `lines`, or the field `name`.
        model: The model of one line.
        name: The field that stands for everything that is open.
        everything: Returns the lines that it stands for.
        beside: The fields that are allowed beside it.
    """
    form = form_of(body, name)
    if form == "single":
        return SentLines("single", name, [_single(body, model)])
    own = "lines" if form == "lines" else name
    allowed = {own, *(beside if form == "all" else ())}
    problems = [one for one in problems_of(body) if one.field in allowed]
    problems += [
        Problem(other, f"is not allowed beside {own}")
        for other in given_fields(body, sorted(body.model_fields_set - allowed))
        if getattr(body, other) is not False
    ]
    if form == "all":
        lines_of_all = everything() if not problems else []
        return SentLines("all", name, lines_of_all, problems, beside)
    lines: list[Checked[L]] = own_lines(body)
    if len(lines) > MAX_LINES:  # their fields were not checked
        lines = []
    return SentLines("lines", name, _distinct([_valid(line) for line in lines]), problems)


def form_of(body: Checked[BaseModel], name: str) -> Form:
    """Return the form of a body; the field `name` stands for everything."""
    if "lines" in body.model_fields_set:
        return "lines"
    return "all" if given_fields(body, [name]) and getattr(body, name) is not False else "single"


def _single[L: GoodsDraft](body: Checked[BaseModel], model: type[L]) -> Checked[L]:
    """Return the only line of a body, with a problem for each required field that it lacks."""
    fields = model.model_fields
    required = [name for name, info in fields.items() if info.is_required()]
    given = given_fields(body, required)
    problems = [*problems_of(body)]
    problems += [Problem(name, "is required") for name in required if name not in given]
    values = {name: getattr(body, name) for name in fields}
    sent = body.model_fields_set & fields.keys()
    if problems:
        return InvalidBody(model, problems, sent, values)
    return cast("L", model.model_construct(sent, **values))


def _valid[L: GoodsDraft](line: Checked[L]) -> Checked[L]:
    """Return a line without a problem as the model, whatever the other lines are."""
    if isinstance(line, InvalidBody) and not line.problems:
        return cast("L", line.model.model_construct({*line.model_fields_set}, **line.valid_values))
    return line


def _distinct[L: GoodsDraft](lines: Sequence[Checked[L]]) -> list[Checked[L]]:
    """Return the lines, with a problem for each serial or date that contradicts a line before.

    Otherwise they would be compared with the stock after the lines before them, as if it was there.
    """
    seen: dict[tuple[str, str], str] = {}
    problems: list[Problem] = []
    for path, line in numbered(lines):
        serials = getattr(line, "serials", None)
        problems += repeated_serials(path, line.item_code or line.gtin, serials, seen)
    named = ((path, line) for path, line in numbered(lines) if line.item_code)
    dated = (one for one in named if hasattr(one[1], "expiry_date"))
    return with_problems(lines, [*problems, *differing_dates(dated)])


def line_quantities(total: Decimal) -> Iterator[Decimal]:
    """Yield the quantities of the lines that a total takes, of which one may be too large."""
    while total > MAX_QUANTITY:
        yield MAX_QUANTITY
        total -= MAX_QUANTITY
    yield total


def _place(goods: Checked[Any]) -> str:
    place = f" at {goods.bin_code}" if goods.bin_code else ""
    return f"{goods.item_code}{place}"


# Steps


@dataclass(frozen=True, slots=True)
class AppliedLines[L, R]:
    """What one step has done: the result, and the lines that are left, by their indexes.

    `refused` says of lines why they cannot be applied any more.
    """

    result: R
    left: Mapping[int, L] = field(default_factory=dict)
    refused: Mapping[int, str] = field(default_factory=dict)


def refusal_of(error: ServiceError, goods: Checked[Any]) -> str:
    """Return why a line cannot be applied any more, with its goods."""
    reasons = "; ".join(one.message for one in error.problems)
    return f"{_place(goods)}: {reasons or error.message}"


def apply_lines[L: BaseModel, R](
    tx: Transaction,
    model: type[L],
    step: Callable[[Mapping[int, L] | None], AppliedLines[L, R]],
    read_first: Callable[[], object],
) -> tuple[R, Mapping[int, str]]:
    """Apply lines in as few transactions as possible; return the result, and the refused lines.

    `step(None)` checks all lines of the request and applies the leading ones; `step(left)` goes on
    with the lines that are left, in base units. See `run_steps`. `read_first` reads what every step
    begins with, into the cache, while the claim of the request is written: only that tells whether
    lines are left of an earlier request.
    """
    read_first()
    left: Mapping[int, L] | None = None
    refused: Mapping[int, str] = {}
    if tx.progress is not None:
        left, refused = _loaded(tx.progress, model)

    def run() -> tuple[R, Mapping[int, str]] | None:
        done = step(left)
        after = {**refused, **done.refused}
        if not done.left:
            return done.result, after

        def committed() -> None:
            nonlocal left, refused
            left, refused = done.left, after

        tx.after_step(committed)
        tx.record_progress(_dumped(done.left, after))
        return None

    return run_steps(tx, run)


def _dumped(left: Mapping[int, BaseModel], refused: Mapping[int, str]) -> bytes:
    lines = {at: line.model_dump() for at, line in left.items()}
    return zlib.compress(dumps({"left": lines, "refused": refused}).encode())


def _loaded[L: BaseModel](progress: bytes, model: type[L]) -> tuple[dict[int, L], dict[int, str]]:
    stored = loads(inflate(progress))
    left = {int(at): model.model_validate(line) for at, line in stored["left"].items()}
    return left, {int(at): why for at, why in stored["refused"].items()}


def unapplied_lines(body: Checked[Any], refused: Mapping[int, str]) -> list[UnappliedLine]:
    """Return the lines of a request that were not applied, as its response shows them."""
    return [
        UnappliedLine(line=at if body.lines else None, message=why)
        for at, why in sorted(refused.items())
    ]

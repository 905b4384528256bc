"""Checks of the lines of all documents against their products, on plain data."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Self

from pydantic import BaseModel

from shared.kernel.errors import Problem, RuleBlocked, ValidationFailed
from shared.kernel.fields import plain
from shared.kernel.validation import Checked, InvalidBody, of_valid_fields, problems_of
from shared.warehouse.catalog.models import GoodsDraft, KnownProduct


@dataclass(frozen=True, slots=True)
class GoodsLine:
    """The product, quantity, batches and serials of one line.

    `item_code` and `qty` are None if the field is missing or invalid. `path` is the path of the
    line in the body, empty if the body itself is the line. `batches` has the batches by field
    name; `serials` has the field name and the serials.
    """

    path: str
    item_code: str | None
    qty: Decimal | None
    batches: Mapping[str, object]
    serials: tuple[str, Sequence[str] | None]

    @classmethod
    def of(cls, path: str, line: Any) -> Self:
        """Return a line of a body with the fields `item_code`, `qty`, `batch` and `serials`."""
        batches, serials = {"batch": line.batch}, ("serials", line.serials)
        return cls(path, line.item_code or None, line.qty, batches, serials)

    def field_path(self, field: str) -> str:
        """Return the path of a field of the line."""
        return f"{self.path}.{field}" if self.path else field


@dataclass(frozen=True, slots=True)
class LineProblems:
    """Problems of a draft: invalid data, and valid data that a rule forbids."""

    invalid: Sequence[Problem]
    blocked: Sequence[Problem]

    @property
    def all(self) -> list[Problem]:
        """The problems of both kinds."""
        return [*self.invalid, *self.blocked]


def ensure_no_problems[M: BaseModel](draft: Checked[M], findings: LineProblems) -> M:
    """Return the model of a draft without problems.

    Raises:
        ValidationFailed: The draft is invalid or names unknown master data; has all problems.
        RuleBlocked: The draft is valid, but a rule forbids it.
    """
    if isinstance(draft, InvalidBody) or findings.invalid:
        raise ValidationFailed([*problems_of(draft), *findings.all])
    if findings.blocked:
        raise RuleBlocked(findings.blocked)
    return draft


def examine_lines(
    lines: Iterable[GoodsLine],
    products: Mapping[str, KnownProduct],
    named: Mapping[str, str] | None = None,
) -> LineProblems:
    """Return all problems of the lines of one document.

    `named` has the serials that other lines of it name, each with the place that a message names.
    """
    invalid: list[Problem] = []
    blocked: list[Problem] = []
    seen = dict(named or {})
    for line in lines:
        product = products.get(line.item_code) if line.item_code is not None else None
        field = line.field_path("item_code")
        if line.item_code is not None and product is None:
            invalid.append(Problem(field, f"no product has the code {line.item_code}"))
        if product and not product.in_stock:
            blocked.append(Problem(field, f"product {product.item_code} is not kept in stock"))
        if product:
            invalid += _management_problems(line, product)
        invalid += _serial_count_problems(line)
        invalid += _repeated_serials(line, seen)
    return LineProblems(invalid, blocked)


def examine_goods(line: GoodsLine, product: KnownProduct) -> Iterator[Problem]:
    """Yield all problems of goods that are received, picked, moved or adjusted.

    Unlike a line of a document, goods must have their batch and all serials.
    """
    yield from _management_problems(line, product)
    yield from _serial_count_problems(line)
    # Callers may put the path of the line before the field, so that no message has a path.
    for repeated in _repeated_serials(line, {}):
        yield replace(repeated, message="must not be named twice")
    for field, value in line.batches.items():
        if product.by_batch and not value:
            message = f"is required: product {product.item_code} is managed by batch"
            yield Problem(line.field_path(field), message)
    field, serials = line.serials
    if product.by_serial and not serials:
        message = f"is required: product {product.item_code} is managed by serial"
        yield Problem(line.field_path(field), message)


def serial_problems(draft: Checked[GoodsDraft], *, by_serial: bool) -> Iterator[Problem]:
    """Yield the problems of the serials of goods that are known to be managed by serial or not."""
    qty, serials = draft.qty, getattr(draft, "serials", None) or []
    different = len(set(serials))
    if by_serial and not serials:
        yield Problem("serials", f"is required: product {draft.item_code} is managed by serial")
    elif serials and not by_serial:
        yield Problem("serials", f"product {draft.item_code} is not managed by serial")
    elif serials and qty is not None and {len(serials), different} != {qty}:
        message = f"{different} different serials given, qty is {plain(qty)}; they must be equal"
        yield Problem("serials", message)


def batch_problems(draft: Checked[GoodsDraft], *, by_batch: bool) -> Iterator[Problem]:
    """Yield a problem of the batch of goods that are known to be managed by batch or not."""
    if by_batch == (getattr(draft, "batch", None) is not None):
        return
    message = f"product {draft.item_code} is {'' if by_batch else 'not '}managed by batch"
    yield Problem("batch", f"is required: {message}" if by_batch else message)


def tracking_problems(
    draft: Checked[GoodsDraft], *, by_serial: bool, by_batch: bool
) -> Iterator[Problem]:
    """Yield the problems of the valid serials and batch of goods that are managed so or not."""
    found = [
        *serial_problems(draft, by_serial=by_serial),
        *batch_problems(draft, by_batch=by_batch),
    ]
    yield from of_valid_fields(draft, found)


def numbered[L: BaseModel](lines: Sequence[Checked[L]] | None) -> Iterator[tuple[str, Checked[L]]]:
    """Yield the lines of a body with their paths."""
    for number, line in enumerate(lines or ()):
        yield f"lines.{number}", line


def parts_of(qty: Decimal, serials: Sequence[str] | None) -> list[tuple[str | None, Decimal]]:
    """Return goods as parts with a serial and a quantity; goods without serials are one part."""
    return [(serial, Decimal(1)) for serial in serials] if serials else [(None, qty)]


def repeated_serials(
    path: str,
    item_code: str | None,
    serials: Sequence[str] | None,
    seen: dict[tuple[str, str], str],
) -> Iterator[Problem]:
    """Yield a problem for each serial that another line of the body has; `seen` has those."""
    for number, serial in enumerate(serials or () if item_code is not None else ()):
        first = seen.setdefault((item_code or "", serial), path)
        if first != path:
            yield Problem(f"{path}.serials.{number}", f"serial {serial} is already in {first}")


def repeated_references(
    lines: Iterable[tuple[str, Any]], named: Mapping[str, str] | None = None
) -> Iterator[Problem]:
    """Yield a problem for each line that has the reference of a line before.

    `named` has the references of the lines that the document has already, with their places.
    """
    seen = dict(named or {})
    for path, line in lines:
        if line.external_ref is None:
            continue
        place = f"{path}.external_ref"
        first = seen.setdefault(line.external_ref, place)
        if first != place:
            yield Problem(place, f"is on the document already, at {first}")


type NamedDates = dict[tuple[str, str], tuple[str, str]]
"""The expiry date that a line names for an item code and batch, and the place of the line."""


def differing_dates(
    lines: Iterable[tuple[str, Any]], named: NamedDates | None = None
) -> Iterator[Problem]:
    """Yield a problem for each line that names another date of a batch than a line before.

    `named` are the dates of the lines that the document has already.
    """
    seen = dict(named or {})
    for path, line in lines:
        item_code, batch, expiry = line.item_code, line.batch, line.expiry_date
        if item_code is None or batch is None or expiry is None:
            continue
        date, place = seen.setdefault((item_code, batch), (expiry, f"{path}.expiry_date"))
        if expiry != date:
            message = f"batch {batch} has the expiry date {date} at {place}"
            yield Problem(f"{path}.expiry_date", message)


def _management_problems(line: GoodsLine, product: KnownProduct) -> Iterator[Problem]:
    serial_field, serials = line.serials
    named = [field for field, value in line.batches.items() if value]
    for field in [] if product.by_batch else named:
        message = f"product {product.item_code} is not managed by batch"
        yield Problem(line.field_path(field), message)
    if serials and not product.by_serial:
        message = f"product {product.item_code} is not managed by serial"
        yield Problem(line.field_path(serial_field), message)
    if product.by_serial and line.qty is not None and line.qty != line.qty.to_integral_value():
        message = f"must be a whole number: product {product.item_code} is managed by serial"
        yield Problem(line.field_path("qty"), message)


def _serial_count_problems(line: GoodsLine) -> Iterator[Problem]:
    field, serials = line.serials
    if serials and line.qty is not None and len(serials) != line.qty:
        yield Problem(line.field_path(field), f"{len(serials)} given, {line.qty:f} required")


def _repeated_serials(line: GoodsLine, seen: dict[str, str]) -> Iterator[Problem]:
    field, serials = line.serials
    path = line.field_path(field)
    for number, serial in enumerate(serials or ()):
        place = f"{path}.{number}"
        if serial in seen:
            yield Problem(place, f"is on the document already, at {seen[serial]}")
        seen.setdefault(serial, place)

"""What a line of any document may say of its product: one set of rules, on plain data."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from pydantic import BaseModel

from shared.kernel.errors import Problem, RuleBlocked, ValidationFailed
from shared.kernel.validation import Checked, InvalidBody, problems_of
from shared.warehouse.catalog.models import KnownProduct


@dataclass(frozen=True, slots=True)
class GoodsLine:
    """What one line says; None where its field was invalid by itself.

    `path` is where it stands in the body, empty when it is the body itself. `batches` and
    `serials` are what it says of them under the names of its fields.
    """

    path: str
    item_code: str | None
    qty: Decimal | None
    batches: Mapping[str, object]
    serials: tuple[str, Sequence[str] | None]

    def field_path(self, field: str) -> str:
        """Path of one of its fields."""
        return f"{self.path}.{field}" if self.path else field


@dataclass(frozen=True, slots=True)
class Findings:
    """What is wrong: invalid data, and valid data that a rule forbids."""

    invalid: Sequence[Problem]
    blocked: Sequence[Problem]


def ensure_allowed[M: BaseModel](draft: Checked[M], findings: Findings) -> M:
    """Return the model of a valid draft that no rule forbids.

    Raises:
        ValidationFailed: The draft or what it names is invalid; with all problems.
        RuleBlocked: Only rules forbid it.
    """
    if isinstance(draft, InvalidBody) or findings.invalid:
        raise ValidationFailed([*problems_of(draft), *findings.invalid, *findings.blocked])
    if findings.blocked:
        raise RuleBlocked(findings.blocked)
    return draft


def examine_lines(claims: Iterable[GoodsLine], products: Mapping[str, KnownProduct]) -> Findings:
    """Find every problem of the lines of one document."""
    invalid: list[Problem] = []
    blocked: list[Problem] = []
    seen: dict[str, str] = {}
    for claim in claims:
        product = products.get(claim.item_code) if claim.item_code is not None else None
        field = claim.field_path("item_code")
        if claim.item_code is not None and product is None:
            invalid.append(Problem(field, f"no product has the code {claim.item_code}"))
        if product and not product.in_stock:
            blocked.append(Problem(field, f"product {product.item_code} is not kept in stock"))
        if product:
            invalid += _management_problems(claim, product)
        invalid += _serial_problems(claim, seen)
    return Findings(invalid, blocked)


def examine_goods(claim: GoodsLine, product: KnownProduct) -> Iterator[Problem]:
    """Find every problem of goods in someone's hands.

    What a document may leave out must be told here: the batch, every serial.
    """
    yield from _management_problems(claim, product)
    yield from _serial_problems(claim, {})
    for field, value in claim.batches.items():
        if product.by_batch and not value:
            message = f"is required: product {product.item_code} is managed by batch"
            yield Problem(claim.field_path(field), message)
    field, serials = claim.serials
    if product.by_serial and not serials:
        message = f"is required: product {product.item_code} is managed by serial"
        yield Problem(claim.field_path(field), message)


def _management_problems(claim: GoodsLine, product: KnownProduct) -> Iterator[Problem]:
    serial_field, serials = claim.serials
    named = [field for field, value in claim.batches.items() if value]
    for field in [] if product.by_batch else named:
        message = f"product {product.item_code} is not managed by batch"
        yield Problem(claim.field_path(field), message)
    if serials and not product.by_serial:
        message = f"product {product.item_code} is not managed by serial"
        yield Problem(claim.field_path(serial_field), message)
    if product.by_serial and claim.qty is not None and claim.qty != claim.qty.to_integral_value():
        yield Problem(claim.field_path("qty"), "must be whole, the product is managed by serial")


def _serial_problems(claim: GoodsLine, seen: dict[str, str]) -> Iterator[Problem]:
    field, serials = claim.serials
    path = claim.field_path(field)
    if serials and claim.qty is not None and len(serials) != claim.qty:
        yield Problem(path, f"must be as many as qty ({claim.qty:f}); there are {len(serials)}")
    for number, serial in enumerate(serials or ()):
        place = f"{path}.{number}"
        if serial in seen:
            yield Problem(place, f"is on the document already, at {seen[serial]}")
        seen.setdefault(serial, place)

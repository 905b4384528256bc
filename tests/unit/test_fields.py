"""What a quantity may be."""

from decimal import Decimal

import pytest
from pydantic import TypeAdapter, ValidationError

from shared.fields import Measure, Quantity
from shared.json_text import loads

_QUANTITY: TypeAdapter[Decimal] = TypeAdapter(Quantity)
_MEASURE: TypeAdapter[Decimal] = TypeAdapter(Measure)


@pytest.mark.parametrize(
    ("text", "quantity"),
    [("1", "1"), ("0.000001", "0.000001"), ("1E2", "100"), ("2.50000000000000000000", "2.5"),
     ("999999999", "999999999"), ("999999998.999999", "999999998.999999")],
)  # fmt: skip
def test_a_quantity_is_kept_as_it_is(text: str, quantity: str) -> None:
    assert _QUANTITY.validate_python(loads(text)) == Decimal(quantity)


@pytest.mark.parametrize(
    "text",
    ["0.0000001", "1e-30", "1e-9999999", "1e-999999999999", "1." + "0" * 40 + "1",
     "999999998.9999999"],
)  # fmt: skip
@pytest.mark.parametrize("kind", [_QUANTITY, _MEASURE])
def test_what_is_finer_than_six_decimals_is_refused(kind: TypeAdapter[Decimal], text: str) -> None:
    with pytest.raises(ValidationError, match="at most 6 decimals"):
        kind.validate_python(loads(text))

"""Numbers in JSON text."""

from decimal import Decimal

import pytest

from shared.kernel.json_text import dumps, loads


@pytest.mark.parametrize(
    "digits",
    [
        "2.5",
        "0.1",
        "1.10",
        "0.000001",
        "999999999.999999",
        "12345678901234567890.123456",  # no float has so many digits
        "-7.25",
        "10",
    ],
)
def test_a_decimal_is_written_with_its_digits(digits: str) -> None:
    text = dumps({"qty": Decimal(digits), "lines": [Decimal(digits)]})
    assert text == f'{{"qty":{digits},"lines":[{digits}]}}'
    assert loads(text)["qty"] == Decimal(digits)


def test_one_long_number_changes_no_other_one() -> None:
    assert dumps([Decimal("0.1"), Decimal("0.12345678901234567890")]) == (
        "[0.1,0.12345678901234567890]"
    )


@pytest.mark.parametrize("value", [object(), {1, 2}])
def test_a_value_that_json_lacks_is_refused(value: object) -> None:
    with pytest.raises(TypeError):
        dumps({"value": value})

"""Serial Shipping Container Codes: digits and check digit."""

import pytest

from shared.warehouse.gs1 import check_digit
from shared.warehouse.packing.sscc import sscc


@pytest.mark.parametrize(
    "example", ["106141412345678908", "006141411234567890", "376104250021234569"]
)
def test_check_digit_is_that_of_the_published_examples(example: str) -> None:
    assert check_digit(example[:-1]) == example[-1]


@pytest.mark.parametrize("prefix", ["4006", "4006381", "400638133393"])
def test_code_has_18_digits_and_begins_again_after_its_last_serial(prefix: str) -> None:
    last = 10 ** (16 - len(prefix))
    codes = [sscc(9, prefix, serial) for serial in (1, last - 1, last, last + 1)]

    assert {len(code) for code in codes} == {18}
    assert all(code.startswith(f"9{prefix}") for code in codes)
    assert codes[3] == codes[0]
    assert len(set(codes)) == 3

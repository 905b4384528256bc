"""Serial Shipping Container Codes: their digits and their serials."""

import pytest

from shared.warehouse.gs1.sscc import sscc


@pytest.mark.parametrize("prefix", ["4006", "4006381", "400638133393"])
def test_code_has_18_digits_and_begins_again_after_its_last_serial(prefix: str) -> None:
    last = 10 ** (16 - len(prefix))
    codes = [sscc(9, prefix, serial) for serial in (1, last - 1, last, last + 1)]

    assert {len(code) for code in codes} == {18}
    assert all(code.startswith(f"9{prefix}") for code in codes)
    assert codes[3] == codes[0]
    assert len(set(codes)) == 3

"""Facets: texts that sort like their values."""

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from shared.kernel.db.facets import (
    fold,
    id_of,
    id_text,
    integer_text,
    pair_id,
    quantity_text,
    sort_text,
)

_IDS = st.integers(1, 10**12 - 1)
_LINES = st.text(st.characters(min_codepoint=0x20, exclude_categories=("Cs", "Cc")), max_size=20)
_QUANTITIES = st.integers(0, 999_999_999 * 10**6).map(lambda n: Decimal(n).scaleb(-6))


@given(_LINES, _IDS, _LINES, _IDS)
def test_sort_keys_are_ordered_by_value_then_id(a: str, m: int, b: str, n: int) -> None:
    assert (sort_text(a, m) < sort_text(b, n)) == ((a, m) < (b, n))


@given(_LINES | st.none(), _IDS)
def test_id_is_read_from_a_sort_key(value: str | None, number: int) -> None:
    assert id_of(sort_text(value, number)) == number


@given(st.integers(-(10**17), 10**17), st.integers(-(10**17), 10**17))
def test_text_of_integers_keeps_their_order(one: int, other: int) -> None:
    texts = integer_text(one), integer_text(other)
    assert texts[0] is not None
    assert texts[1] is not None
    assert (texts[0] < texts[1]) == (one < other)


@given(_QUANTITIES, _QUANTITIES)
def test_text_of_quantities_keeps_their_order(one: Decimal, other: Decimal) -> None:
    assert (quantity_text(one) < quantity_text(other)) == (one < other)


@given(_IDS, _IDS)
def test_text_of_ids_keeps_their_order(one: int, other: int) -> None:
    assert (id_text(one) < id_text(other)) == (one < other)


@given(st.tuples(_IDS, _IDS), st.tuples(_IDS, _IDS), _LINES)
def test_each_pair_of_ids_has_an_id_in_the_order_of_pairs(
    one: tuple[int, int], other: tuple[int, int], value: str
) -> None:
    keys = [sort_text(value, pair_id(*pair)) for pair in (one, other)]
    assert (keys[0] < keys[1]) == (one < other)
    assert (keys[0] == keys[1]) == (one == other)
    assert id_of(keys[0]) == pair_id(*one)


def test_folding_ignores_case_accents_and_width() -> None:
    assert fold("Ferretería") == fold("FERRETERIA") == fold("ferreteri\u0301a")
    assert fold("\uff21\uff22") == "ab"
    assert fold("Straße") == "strasse"


@given(st.text())
def test_folded_text_has_a_maximum_length(text: str) -> None:
    assert len(fold(text)) <= 200

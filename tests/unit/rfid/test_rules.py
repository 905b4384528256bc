"""What tags are compared with: quantities, serials, units of cases, and handling units."""

from decimal import Decimal
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from shared.warehouse.catalog.gtins import CountedProduct
from shared.warehouse.gs1.numbers import gtin_14
from shared.warehouse.rfid import rules
from shared.warehouse.rfid.models import TagGoods
from shared.warehouse.rfid.rules import Comparison, ExpectedGoods
from tests.cases import each_case
from tests.epc_encoding import grai_96, sscc_tag_of, tag_of

PIECE, CASE, DRILL, DRILL_CASE, OTHER = (
    "4006381333931", "14006381333938", "614141999996", "10614141999993", "96385074",
)  # fmt: skip
SSCC = "340063810000000025"
PRODUCTS = {
    gtin_14(PIECE): CountedProduct(1, "BRICK", by_serial=False, units=1),
    gtin_14(CASE): CountedProduct(1, "BRICK", by_serial=False, units=12),
    gtin_14(DRILL): CountedProduct(3, "DRILL", by_serial=True, units=1),
    gtin_14(DRILL_CASE): CountedProduct(3, "DRILL", by_serial=True, units=4),
}


def bricks(qty: float) -> ExpectedGoods:
    return ExpectedGoods(1, "BRICK", Decimal(str(qty)))


def drills(qty: int, *serials: str) -> ExpectedGoods:
    return ExpectedGoods(3, "DRILL", Decimal(qty), serials)


def compare(expected: list[ExpectedGoods], *epcs: str, own: str = SSCC) -> Comparison:
    return rules.compare(expected, {own}, rules.read_tags(epcs), PRODUCTS)


def shown(goods: list[TagGoods]) -> list[tuple[str, Decimal, list[str]]]:
    return [(one.item_code, one.qty, one.serials) for one in goods]


def differences(compared: Comparison) -> tuple[list[object], list[object]]:
    """Return the missing and the unexpected goods."""
    found = compared.differences
    return [*shown(found.missing)], [*shown(found.unexpected)]


def quantities(compared: Comparison) -> tuple[float, float]:
    """Return the expected and the matched quantity."""
    return float(compared.expected), float(compared.matched)


def pieces(*serials: int) -> list[str]:
    return [tag_of(PIECE, serial) for serial in serials]


def test_tags_of_all_goods_leave_no_difference() -> None:
    expected = [bricks(3), drills(2, "S1", "S2"), bricks(11)]
    tags = [*pieces(1, 2), tag_of(CASE, 1), tag_of(DRILL, "S2"), tag_of(DRILL, "S1")]

    compared = compare(expected, *tags, sscc_tag_of(SSCC))

    assert compared.differences.is_empty
    assert quantities(compared) == (16, 16)


def test_each_tag_counts_once_whatever_its_form() -> None:
    forms = [
        *pieces(7), pieces(7)[0].lower(), "urn:epc:id:sgtin:4006381.033393.7",
        "urn:epc:tag:sgtin-96:5.4006381.033393.7", "urn:epc:tag:sgtin-198:1.4006381.033393.7",
        tag_of(PIECE, "7"), "xyz", "XYZ",
    ]  # fmt: skip
    tags = rules.read_tags(forms)

    assert (tags.unique, list(tags.unreadable)) == (2, ["xyz"])
    assert compare([bricks(1)], *forms[:-2]).differences.is_empty


def _drill_tags(*serials: str) -> list[str]:
    return [tag_of(DRILL, serial) for serial in serials]


@each_case(
    ("expected", "tags", "missing", "unexpected"),
    [
        # goods without serials are counted
        ([bricks(3)], pieces(1, 2, 3), [], []),
        ([bricks(3)], pieces(1), [("BRICK", 2, [])], []),
        ([bricks(3)], pieces(1, 2, 3, 4, 5), [], [("BRICK", 2, [])]),
        # a part of a unit has the tag of a whole one
        ([bricks(2.5)], pieces(1, 2), [("BRICK", 0.5, [])], []),
        ([bricks(2.5)], pieces(1, 2, 3), [], []),
        ([bricks(2.5)], pieces(1, 2, 3, 4), [], [("BRICK", 1, [])]),
        ([bricks(2.5), bricks(0.75)], pieces(1, 2, 3, 4), [], []),
        ([bricks(3)], [], [("BRICK", 3, [])], []),
        # of a case that counts more than is expected, the rest is unexpected
        ([bricks(10)], [tag_of(CASE, 1)], [], [("BRICK", 2, [])]),
        # serials are compared where the product is managed by serial
        (
            [drills(2, "S1", "S2")],
            _drill_tags("S1", "S3"),
            [("DRILL", 1, ["S2"])],
            [("DRILL", 1, ["S3"])],
        ),
        # goods whose serials are not known accept any serial
        (
            [drills(1, "S1"), drills(2)],
            _drill_tags("S1", "S7", "S8", "S9"),
            [],
            [("DRILL", 1, ["S9"])],
        ),
        ([drills(5)], [tag_of(DRILL_CASE, 1), *_drill_tags("S1")], [], []),
        # serials of missing goods are named where they are known
        ([drills(2, "S1", "S2"), drills(1)], [], [("DRILL", 3, ["S1", "S2"])], []),
        # the tag of a case names no serials
        ([drills(1, "S1")], [tag_of(DRILL_CASE, 1)], [("DRILL", 1, ["S1"])], [("DRILL", 4, [])]),
        # goods of another product are unexpected with their serials
        ([], [*_drill_tags("S1"), *pieces(1)], [], [("DRILL", 1, ["S1"]), ("BRICK", 1, [])]),
    ],
)
def test_tags_are_compared_with_the_expected_goods(
    expected: list[ExpectedGoods], tags: list[str], missing: list[Any], unexpected: list[Any]
) -> None:
    compared = compare(expected, *tags)

    assert differences(compared) == (missing, unexpected)
    total = sum(float(one.qty) for one in expected)
    assert quantities(compared) == (total, total - sum(qty for _, qty, _ in missing))


def test_only_tags_of_goods_have_gtins() -> None:
    asset = grai_96(PIECE[:7], PIECE[7:12], 1)
    tags = rules.read_tags([sscc_tag_of(SSCC), asset, *pieces(1, 2), tag_of(CASE, 1)])

    assert tags.gtins == [gtin_14(PIECE), CASE]
    assert compare([], asset).differences.unknown == [asset], "its digits are those of the GTIN"


def test_other_numbers_are_unknown_but_the_own_sscc_is_neutral() -> None:
    foreign, asset, no_product = (
        sscc_tag_of("006141411234567890"), grai_96("0614141", "12345", 1), tag_of(OTHER, 1),
    )  # fmt: skip
    found = compare(
        [bricks(1)], sscc_tag_of(SSCC), foreign, asset, no_product, "3" * 128, *pieces(1)
    )

    assert found.differences.unknown == [foreign, asset, no_product]
    assert found.differences.unreadable == ["3" * 128]
    assert compare([bricks(1)], sscc_tag_of(SSCC), *pieces(1)).differences.is_empty
    assert not compare([bricks(1)], foreign, *pieces(1)).differences.is_empty


@given(
    st.integers(0, 30),
    st.sets(st.integers(1, 40)),
    st.sets(st.integers(1, 9)),
    st.sets(st.sampled_from("ABCDEF")),
    st.sets(st.sampled_from("DEFGHI")),
)
def test_what_is_expected_is_matched_or_missing(
    qty: int, single: set[int], cases: set[int], serials: set[str], read: set[str]
) -> None:
    goods = [bricks(qty), drills(len(serials), *sorted(serials))]
    tags = [tag_of(CASE, serial) for serial in cases] + [tag_of(DRILL, serial) for serial in read]

    compared = compare(goods, *pieces(*single), *tags)

    missing = sum(one.qty for one in compared.differences.missing)
    unexpected = sum(one.qty for one in compared.differences.unexpected)
    assert compared.matched + missing == compared.expected == qty + len(serials)
    assert compared.matched + unexpected == len(single) + 12 * len(cases) + len(read)

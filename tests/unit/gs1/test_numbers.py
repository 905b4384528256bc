"""Check digits and forms of the numbers of GS1."""

import biip
import pytest

from shared.warehouse.gs1.numbers import (
    check_digit,
    gtin_14,
    gtin_forms,
    gtin_problem,
    sscc_problem,
)


# The examples of the GS1 General Specifications and of products on sale.
@pytest.mark.parametrize(
    "number",
    ["96385074", "614141999996", "4006381333931", "10614141000415", "376104250021234569",
     "106141412345678908", "006141411234567890"],
)  # fmt: skip
def test_check_digit_is_that_of_gs1(number: str) -> None:
    assert check_digit(number[:-1]) == number[-1]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("376104250021234569", None),
        ("37610425002123456", "must be an SSCC of 18 digits"),
        ("37610425002123456x", "must be an SSCC of 18 digits"),
        ("376104250021234560", "ends in the check digit 0, which must be 9"),
    ],
)
def test_sscc_is_examined(text: str, problem: str | None) -> None:
    assert sscc_problem(text) == problem
    assert (biip.parse(f"]C100{text}").sscc is not None) == (problem is None)


@pytest.mark.parametrize("gtin", ["614141999996", "0614141999996", "00614141999996"])
def test_leading_zeros_are_the_same_gtin(gtin: str) -> None:
    assert gtin_problem(gtin) is None
    assert gtin_14(gtin) == "00614141999996"


@pytest.mark.parametrize(
    "text",
    [
        "", "7", "9638507", "963850745", "61414199999", "006141419999960", "00000000",
        "4006381 33393", "400638133393X", "-006381333931", "\u0664" * 13,
    ],
)  # fmt: skip
def test_other_texts_are_no_gtin(text: str) -> None:
    assert gtin_problem(text) == "must be a GTIN of 8, 12, 13 or 14 digits"


def test_a_wrong_check_digit_is_named_with_the_right_one() -> None:
    problem = gtin_problem("4006381333932")
    assert problem == "ends in the check digit 2, which must be 1"


@pytest.mark.parametrize(
    ("gtin", "forms"),
    [
        ("14006381333938", ["14006381333938"]),
        ("04006381333931", ["04006381333931", "4006381333931"]),
        ("00614141999996", ["00614141999996", "0614141999996", "614141999996"]),
        ("00000096385074", ["00000096385074", "0000096385074", "000096385074", "96385074"]),
    ],
)
def test_a_gtin_has_each_form_that_leaves_out_zeros_only(gtin: str, forms: list[str]) -> None:
    assert gtin_forms(gtin) == forms
    assert {gtin_14(form) for form in forms} == {gtin}

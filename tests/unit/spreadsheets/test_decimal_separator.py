"""The decimal separator of numbers in text is detected."""

from shared.integration.imports.files.cells import uses_decimal_comma
from tests.cases import each_case


@each_case(
    ("cells", "comma"),
    [
        (["1,5"], True),
        (["1.5"], False),
        (["-0,125", "7"], True),
        (["1.234,5"], True),
        (["1,234.5"], False),
        (["1,250"], None),
        (["1.250", "2"], None),
        (["1.250", "2,5"], True),
        (["1,250", "+2.5"], False),
        (["1234.567"], False),
        (["1 250,75", "2,500"], True),
        (["12\u00a0250.750", "2,500"], False),
        (["1,5", "1.5"], None),
        (["01.02.2026", "A1.5", "7"], None),
        ([], None),
    ],
)
def test_the_decimal_separator_is_detected_if_unambiguous(
    cells: list[str],
    comma: bool | None,  # noqa: FBT001
) -> None:
    assert uses_decimal_comma(cells) is comma

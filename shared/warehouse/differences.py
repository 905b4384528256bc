"""Fields of a repeated request that differ from what its reference already names."""

from collections.abc import Iterator, Mapping, Sequence

type Values = Mapping[str, object]


def differing_fields(sent: Values, stored: Values, path: str = "") -> Iterator[str]:
    """Yield the paths of the values that differ. Absent, null and empty are the same."""
    for name, value in sent.items():
        if (value or None) != (stored[name] or None):
            yield f"{path}{name}"


def differing_lines(sent: Sequence[Values], stored: Sequence[Values]) -> Iterator[str]:
    """Yield the paths of the values of lines that differ; `lines` if their number differs."""
    if len(sent) != len(stored):
        yield "lines"
        return
    for number, (one, other) in enumerate(zip(sent, stored, strict=True)):
        yield from differing_fields(one, other, f"lines.{number}.")

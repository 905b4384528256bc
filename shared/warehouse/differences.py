"""Fields of a repeated request that differ from what its reference already names."""

from collections.abc import Iterator, Mapping, Sequence

_MOST_NAMED = 20
"""Fields that a warning names."""

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


def unchanged_warning(what: str, differing: Sequence[str]) -> str | None:
    """Return the warning of a response that shows `what` as it was; None without difference."""
    if not differing:
        return None
    more = len(differing) - _MOST_NAMED
    names = ", ".join(differing[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
    return f"{what} exists already and was not changed. The request differs in: {names}."

"""The order in which a line shows its characters: the bidirectional algorithm of Unicode (UAX 9).

Names and addresses have no embeddings, overrides and isolates (`shared.kernel.fields`), so the
rules for these are left out.
"""

import unicodedata
from collections.abc import Iterator, Sequence

_NUMBERS = {"EN", "AN"}
_RIGHT = {"R", "EN", "AN"}
"""Classes that neutral characters take as right to left (rule N1)."""
_DIRECTED = {"L", *_RIGHT}
_CLOSING = {"(": ")", "[": "]", "{": "}"}
"""Brackets that make pairs; names and addresses rarely have others."""


def is_right_to_left(text: str) -> bool:
    """Return whether the first letter of a text is written from right to left."""
    strong = (unicodedata.bidirectional(char) for char in text)
    return next((one in {"R", "AL"} for one in strong if one in {"L", "R", "AL"}), False)


def levels(text: str, *, right_to_left: bool) -> list[int]:
    """Return the embedding level of each character: odd from right to left, even otherwise."""
    base = int(right_to_left)
    classes = _resolve_weak([unicodedata.bidirectional(c) for c in text], base)
    classes = _resolve_neutrals(_resolve_brackets(text, classes, base), base)
    return [_level(one, base) for one in classes]


def visual_order(levels: Sequence[int]) -> list[int]:
    """Return the places of runs with these levels from left to right (rule L2)."""
    order = list(range(len(levels)))
    for level in range(max(levels, default=0), 0, -1):
        start = 0
        while start < len(order):
            end = start
            while end < len(order) and levels[order[end]] >= level:
                end += 1
            order[start:end] = reversed(order[start:end])
            start = end + 1
    return order


def _level(resolved: str, base: int) -> int:
    if base:
        return 1 if resolved == "R" else 2
    return {"L": 0, "R": 1}.get(resolved, 2)


def _resolve_weak(classes: list[str], base: int) -> list[str]:
    """Resolve marks, numbers and their separators (rules W1 to W7)."""
    found: list[str] = []
    strong = "R" if base else "L"
    for place, one in enumerate(classes):
        resolved = one
        if one == "NSM":
            resolved = found[-1] if found else strong
        elif one == "EN" and strong == "AL":
            resolved = "AN"
        elif one in {"ES", "CS", "ET", "BN"}:
            resolved = _separator(one, found, classes[place + 1 :], is_arabic=strong == "AL")
        elif one in {"L", "R", "AL"}:
            strong = one
        found.append("R" if resolved == "AL" else resolved)
    return _numbers_among_letters(found, base)


def _separator(one: str, before: list[str], after: list[str], *, is_arabic: bool) -> str:
    follows = after[0] if after else ""
    follows = "AN" if follows == "EN" and is_arabic else follows
    if one in {"ES", "CS"} and before and before[-1] == follows and follows in _NUMBERS:
        return follows if one == "CS" or follows == "EN" else "ON"
    number = next((other for other in after if other != "ET"), "")
    if one == "ET" and not is_arabic and ((before and before[-1] == "EN") or number == "EN"):
        return "EN"
    return "ON"


def _numbers_among_letters(classes: list[str], base: int) -> list[str]:
    strong, found = ("R" if base else "L"), list[str]()
    for one in classes:
        strong = one if one in {"L", "R"} else strong
        found.append("L" if one == "EN" and strong == "L" else one)
    return found


def _resolve_brackets(text: str, classes: list[str], base: int) -> list[str]:
    """Give both brackets of a pair the direction of what is in it, or before it (rule N0)."""
    embedding, found = ("R" if base else "L"), list(classes)
    for start, end in sorted(_bracket_pairs(text, classes)):
        inside = [_direction(one) for one in found[start + 1 : end] if one in _DIRECTED]
        before = (_direction(one) for one in reversed(found[:start]) if one in _DIRECTED)
        if inside:
            is_embedded = embedding in inside
            found[start] = found[end] = embedding if is_embedded else next(before, embedding)
    return found


def _bracket_pairs(text: str, classes: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the places of the two brackets of each pair (BD16)."""
    opened: list[tuple[str, int]] = []
    for place, char in enumerate(text):
        if classes[place] == "ON" and char in _CLOSING:
            opened.append((_CLOSING[char], place))
        elif classes[place] == "ON" and any(closing == char for closing, _ in opened):
            while opened[-1][0] != char:
                opened.pop()
            yield opened.pop()[1], place


def _resolve_neutrals(classes: list[str], base: int) -> list[str]:
    """Give spaces and other neutral characters the direction of what is around them (N1, N2)."""
    embedding = "R" if base else "L"
    found, place = list(classes), 0
    while place < len(found):
        end = place
        while end < len(found) and found[end] not in _DIRECTED:
            end += 1
        if end > place:
            before = _direction(found[place - 1]) if place else embedding
            after = _direction(found[end]) if end < len(found) else embedding
            found[place:end] = [before if before == after else embedding] * (end - place)
        place = end + 1
    return found


def _direction(resolved: str) -> str:
    return "R" if resolved in _RIGHT else "L"

"""Rules of warehouses and positions on plain data."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

from shared.kernel.errors import Problem
from shared.kernel.fields import normalized
from shared.kernel.validation import Checked, invalid_fields
from shared.warehouse.warehouses.models import (
    MAX_BULK,
    KnownWarehouse,
    PositionBulk,
    PositionChange,
    PositionCreate,
    StoredPosition,
)

_PLACE = {"warehouse_id", "whs_code"}
_AXES: Mapping[str, str] = {"aisle": "aisles", "rack": "racks", "level": "levels", "slot": "slots"}
"""Placeholder of a naming mask (and field of a position) → field that lists its labels."""
_PLACEHOLDER = re.compile("{(" + "|".join(_AXES) + ")}")
_BIN_CODE_LENGTH = 50
_LAST_SEQUENCE = 1_000_000_000


def position_values(draft: PositionCreate | PositionChange) -> dict[str, Any]:
    """Return the fields other than the warehouse that a body sets."""
    return StoredPosition.values_of(draft, without=_PLACE)


def common_values(draft: PositionBulk) -> dict[str, Any]:
    """Return the fields that all positions of a bulk request share."""
    own = {*_PLACE, *_AXES.values(), "naming_mask", "pick_sequence_start"}
    return StoredPosition.values_of(draft, without=own)


def warehouse_of(
    draft: Checked[PositionCreate] | Checked[PositionBulk], known: Sequence[KnownWarehouse]
) -> tuple[KnownWarehouse | None, list[Problem]]:
    """Return the warehouse that a body names by id, by code or by both, and the problems.

    When only one of id and code is known, the warehouse is returned together with the problem
    of the other, so that the position can be checked in that warehouse.
    """
    by_id = {warehouse.id: warehouse for warehouse in known}
    by_code = {warehouse.whs_code: warehouse for warehouse in known}
    number, code = draft.warehouse_id, draft.whs_code
    found: list[Problem] = []
    if number is None and code is None and not invalid_fields(draft) & _PLACE:
        found.append(Problem("whs_code", "is required unless warehouse_id is given"))
    if number is not None and number not in by_id:
        found.append(Problem("warehouse_id", f"no warehouse has the id {number}"))
    if code is not None and code not in by_code:
        found.append(Problem("whs_code", f"no warehouse has the code {code}"))
    first = by_id.get(number) if number is not None else None
    second = by_code.get(code) if code is not None else None
    if first and second and first != second:
        found.append(
            Problem("whs_code", f"must be {first.whs_code}, the code of the warehouse {first.id}")
        )
    return first or second, found


def alias_values(position: StoredPosition) -> dict[str, str | bool | None]:
    """Return the values of a position that its alias repeats, by attribute of the alias."""
    return {
        "type": position.type,
        "pickable": position.is_pickable,
        "disabled": position.disabled,
        "blocked": position.is_blocked,
    }


def warehouse_problems(before: StoredPosition, change: Checked[PositionChange]) -> list[Problem]:
    """Return a problem for each field that names another warehouse than that of the position."""
    fixed = "the warehouse of a position cannot change"
    found: list[Problem] = []
    if change.warehouse_id not in {None, before.warehouse_id}:
        found.append(Problem("warehouse_id", f"must be {before.warehouse_id}; {fixed}"))
    if change.whs_code not in {None, before.whs_code}:
        found.append(Problem("whs_code", f"must be {before.whs_code}; {fixed}"))
    return found


@dataclass(frozen=True, slots=True)
class NamedPosition:
    """One position of a bulk request: its code, the labels in the code, and its pick sequence."""

    bin_code: str
    labels: Mapping[str, str]
    pick_sequence: int | None


def named_positions(
    draft: Checked[PositionBulk],
) -> tuple[list[NamedPosition], list[Problem]]:
    """Return the positions that a naming mask and its labels name, in order, or the problems.

    Invalid labels name no position and are not reported as missing.
    """
    mask = draft.naming_mask
    if mask is None:
        return [], []
    if set("{}") & set(_PLACEHOLDER.sub("", mask)):
        return [], [
            Problem(
                "naming_mask", "must not have braces other than {aisle}, {rack}, {level} and {slot}"
            )
        ]
    axes = list(dict.fromkeys(_PLACEHOLDER.findall(mask)))
    found, invalid = _label_problems(draft, axes), invalid_fields(draft)
    found = [problem for problem in found if problem.field not in invalid]
    if found or invalid & {_AXES[axis] for axis in axes}:
        return [], found
    lists = [getattr(draft, _AXES[axis]) for axis in axes]
    count = prod(map(len, lists))
    if count > MAX_BULK:
        message = f"names {count} positions; the limit is {MAX_BULK} per request"
        return [], [Problem("naming_mask", message)]
    start = draft.pick_sequence_start
    positions = [
        _name(mask, dict(zip(axes, labels, strict=True)), None if start is None else start + index)
        for index, labels in enumerate(product(*lists))
    ]
    return positions, _name_problems(positions)


def _label_problems(draft: Checked[PositionBulk], axes: Sequence[str]) -> list[Problem]:
    found: list[Problem] = []
    for axis, field in _AXES.items():
        labels = getattr(draft, field)
        if axis in axes and labels is None:
            found.append(Problem(field, f"is required, because the naming mask has {{{axis}}}"))
        if axis not in axes and labels is not None:
            found.append(
                Problem(field, f"is not allowed, because the naming mask does not have {{{axis}}}")
            )
    return found


def _name(mask: str, labels: Mapping[str, str], pick_sequence: int | None) -> NamedPosition:
    code = normalized(_PLACEHOLDER.sub(lambda match: labels[match[1]], mask))
    return NamedPosition(code, labels, pick_sequence)


def _name_problems(positions: Sequence[NamedPosition]) -> list[Problem]:
    found: list[Problem] = []
    codes = Counter(position.bin_code for position in positions)
    longest = max(codes, key=len)
    if len(longest) > _BIN_CODE_LENGTH:
        message = (
            f"produces a bin code of {len(longest)} characters; the limit is {_BIN_CODE_LENGTH}"
        )
        found.append(Problem("naming_mask", message))
    ((code, times),) = codes.most_common(1)
    if times > 1:
        found.append(Problem("naming_mask", f"produces the bin code {code} {times} times"))
    last = positions[-1].pick_sequence or 0
    if last > _LAST_SEQUENCE:
        message = f"leads to the pick sequence {last}; the limit is {_LAST_SEQUENCE}"
        found.append(Problem("pick_sequence_start", message))
    return found

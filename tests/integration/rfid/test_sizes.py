"""Ten thousand tags: what is stored, and what an event has, when every list is at its worst."""

import random
import string
from collections.abc import Callable

import pytest

from shared.kernel.db.items import size_of
from shared.warehouse.rfid.models import MAX_TAGS
from tests.epc_encoding import sgtin_198
from tests.rfid_scenario import PATH, RfidScenario, drills
from tests.stack import Stack

_CHARACTERS = string.digits + string.ascii_letters + "!\"%&'()*+,-./:;<=>?_"
_PRINTABLE = "".join(map(chr, range(32, 127)))


def _text(chance: random.Random, characters: str, length: int) -> str:
    return "".join(chance.choices(characters, k=length))


def _unknown(chance: random.Random) -> str:
    prefix, reference = (_text(chance, string.digits, count) for count in (7, 6))
    return sgtin_198(prefix, reference, _text(chance, _CHARACTERS, 20))


def _unreadable(chance: random.Random) -> str:
    return f"x{_text(chance, _PRINTABLE, 80)}"


def _unexpected(chance: random.Random) -> str:
    return drills(_text(chance, _CHARACTERS, 20))[0]


@pytest.mark.parametrize("make", [_unknown, _unreadable, _unexpected])
def test_ten_thousand_tags_that_differ_are_stored_in_one_write(
    gate: RfidScenario, stack: Stack, make: Callable[[random.Random], str]
) -> None:
    chance = random.Random(7)  # noqa: S311
    number = gate.yard.picking(gate.yard.order(("BRICK", 5)))["id"]
    before = stack.event_count()

    answer = gate.validate({"picking_id": number}, *(make(chance) for _ in range(MAX_TAGS)))

    shown = answer.data
    assert (answer.status, shown["read"], shown["unique"]) == (201, MAX_TAGS, MAX_TAGS)
    lists = shown["unknown"], shown["unreadable"], shown["unexpected"]
    assert [len(one) for one in lists] in ([MAX_TAGS, 0, 0], [0, MAX_TAGS, 0], [0, 0, 1])
    assert gate.erp.get(f"{PATH}/1").data == shown
    stored = [one for one in stack.unsorted_items() if one["PK"]["S"].startswith("rfid_")]
    assert sum(map(size_of, stored)) < (800_000 if make is _unreadable else 400_000)
    assert stack.event_count() == before + 1
    assert size_of(stack.events()[-1]) < 2_000

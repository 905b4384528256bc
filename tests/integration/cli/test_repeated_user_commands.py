"""Commands for users and roles, run again: the result is shown and nothing changes."""

from collections.abc import Callable
from itertools import product
from typing import Any

import pytest

from tests.faults import (
    Answer,
    AwsFaults,
    Call,
    Fault,
    Forward,
    Killed,
    kill_after,
    kill_before,
)
from tests.integration.cli.command_line import as_json, deploy_stack, refused, run
from tests.integration.users.user_requests import before_next_commit
from tests.sampling import sampled
from tests.stack import Stack

_MOST_CALLS = 40
"""More calls than a command makes."""
_PASSWORD = "eleven green bottles"
_ANA = ("user", "create", "acme", "ana.ruiz", "--name", "Ana Ruiz", "--role", "Packers")
_PACKERS = ("role", "create", "acme", "Packers", "--permission", "exits.manage")


@pytest.fixture(autouse=True)
def packers(stack: Stack) -> None:
    """Deploy a stack that the command line finds, with the role Packers."""
    assert stack
    deploy_stack()
    as_json(*_PACKERS)


def test_creating_an_existing_user_shows_it_without_the_password(stack: Stack) -> None:
    made = as_json(*_ANA)
    stored = stack.stored()

    assert as_json(*_ANA) == made | {"password": None}
    again = run("user", "create", "acme", "Ana.Ruiz", *_ANA[4:])

    assert again.exit_code == 0
    assert "already exists" in again.stderr
    assert "cannot be shown again" in again.stderr
    assert made["password"] not in again.output
    assert stack.stored() == stored


@pytest.mark.parametrize(
    "other",
    [
        ("--name", "Ana María Ruiz", "--role", "Packers"),
        ("--name", "Ana Ruiz"),
        ("--name", "Ana Ruiz", "--role", "Packers", "--email", "ana@acme.example"),
    ],
)
def test_creating_a_different_user_with_the_same_name_is_refused(other: tuple[str, ...]) -> None:
    as_json(*_ANA)
    assert "username: is already taken" in refused(*_ANA[:4], *other)


def test_creating_an_existing_user_with_another_password_is_refused() -> None:
    for _ in range(2):
        typed = f"{_PASSWORD}\n{_PASSWORD}\n"
        assert as_json(*_ANA, "--ask-password", typed=typed)["username"] == "ana.ruiz"
    typed = f"{_PASSWORD}!\n{_PASSWORD}!\n"
    assert "username: is already taken" in refused(*_ANA, "--ask-password", typed=typed)


def test_creating_an_existing_role_shows_it(stack: Stack) -> None:
    there = as_json("role", "list", "acme")[0]
    stored = stack.stored()
    assert as_json(*_PACKERS) == there
    assert "already exists" in run(*_PACKERS).stderr
    assert stack.stored() == stored


@pytest.mark.parametrize(
    "other",
    [
        ("packers", "--permission", "exits.manage"),
        ("Packers",),
        ("Packers", "--permission", "exits.manage", "--description", "They pack."),
    ],
)
def test_creating_a_different_role_with_the_same_name_is_refused(other: tuple[str, ...]) -> None:
    assert "name: is already taken" in refused("role", "create", "acme", *other)


def test_deleting_a_deleted_user_succeeds() -> None:
    as_json(*_ANA)
    first = as_json("user", "delete", "acme", "ana.ruiz", "--yes")
    assert first == {"username": "ana.ruiz", "id": 1, "state": "deleted", "webhooks": []}
    assert as_json("user", "delete", "acme", "Ana.Ruiz") == first
    again = run("user", "delete", "acme", "ana.ruiz")
    assert (again.exit_code, "ana.ruiz was already deleted" in again.stderr) == (0, True)
    assert "The user nobody does not exist" in refused("user", "delete", "acme", "nobody", "--yes")


def test_deleting_a_deleted_role_succeeds() -> None:
    first = as_json("role", "delete", "acme", "Packers", "--yes")
    assert first == {"name": "Packers", "id": 1, "state": "deleted"}
    assert as_json("role", "delete", "acme", "Packers") == first
    again = run("role", "delete", "acme", "packers")
    assert (again.exit_code, "packers was already deleted" in again.stderr) == (0, True)
    assert "The role Nothing does not exist" in refused("role", "delete", "acme", "Nothing")


def test_deleting_again_shows_the_last_deleted_user_of_the_name() -> None:
    for number in (1, 2):
        as_json(*_ANA)
        assert as_json("user", "delete", "acme", "ana.ruiz", "--yes")["id"] == number
    assert as_json("user", "delete", "acme", "ana.ruiz")["id"] == 2


def test_concurrent_deletion_of_a_user_succeeds(aws_faults: AwsFaults) -> None:
    as_json(*_ANA)

    def delete_concurrently() -> None:
        assert run("user", "delete", "acme", "ana.ruiz", "--yes").exit_code == 0

    with before_next_commit(aws_faults, delete_concurrently):
        assert as_json("user", "delete", "acme", "ana.ruiz", "--yes")["state"] == "deleted"
    deleted = as_json("audit", "acme", "--action", "user.deleted")
    assert len(deleted) == 1


_INTERRUPTED = (
    _ANA,
    ("role", "create", "acme", "Receiving", "--permission", "entries.manage"),
    ("user", "delete", "acme", "bob", "--yes"),
    ("role", "delete", "acme", "Checkers", "--yes"),
)
_CASES = list(product(_INTERRUPTED, (kill_before, kill_after)))


@pytest.mark.parametrize(
    ("command", "fault"), sampled("interrupted commands of users", _CASES, every=3)
)
def test_interrupted_command_is_completed_by_running_it_again(
    stack: Stack, aws_faults: AwsFaults, command: tuple[str, ...], fault: Any
) -> None:
    as_json("user", "create", "acme", "bob", "--name", "Bob")
    as_json("role", "create", "acme", "Checkers")
    restore = stack.take_snapshot()
    family = f"{command[0]} {command[1]} {fault.__name__}"
    for call in (None, *sampled(family, range(_MOST_CALLS), every=4)):
        restore()
        try:
            with aws_faults.faulty(_at_commit(fault) if call is None else fault(call)):
                run(*command)
        except Killed:
            assert run(*command).exit_code == 0
            entries = as_json("audit", "acme", "--action", f"{command[0]}.{command[1]}d")
            assert len(entries) == len({entry["target"] for entry in entries})
        else:
            break
    assert call is not None
    assert 3 < call < _MOST_CALLS - 4, "the last run was not interrupted"
    remaining = as_json(command[0], "list", "acme")
    restore()
    assert len(remaining) - len(as_json(command[0], "list", "acme")) == (
        1 if command[1] == "create" else -1
    )


def _at_commit(fault: Callable[[int], Fault]) -> Fault:
    """Return the fault for the first transaction, whose number differs between runs."""
    at_first = fault(0)

    def apply(call: Call, forward: Forward) -> Answer:
        is_commit = call.operation == "TransactWriteItems"
        return at_first(call, forward) if is_commit else forward()

    return apply

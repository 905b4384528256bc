"""`stowage key …`."""

import time
from typing import Any

import click

from cli.operator import Operator, command
from operations import signing_keys
from operations.signing_keys import KnownKey
from shared.identity.auth.key_ring import SigningKey
from shared.kernel.clock import Instant, instant

_COLUMNS = ("kid", "state", "signs_from", "retires_from", "kms_key")


def _row(known: KnownKey) -> dict[str, Any]:
    return {
        "kid": known.key.kid,
        "state": known.state,
        "signs_from": _when(known.key.signs_from),
        "retires_from": _when(known.retires_from),
        "retired_at": _when(known.key.retired_at),
        "kms_key": known.key.kms_key,
    }


def _when(second: int | None) -> Instant | None:
    return instant(second * 1000) if second else None


@click.group()
def key() -> None:
    """Keys that sign access tokens; they live in KMS and never leave it."""


@key.command("list")
@command
def list_(operator: Operator) -> None:
    """List the keys, the retired ones too.

    One signs; others verify what they signed before, or wait for their turn. `retires from`
    tells since when no token needs a key any more.

    \b
    Example:
      stowage key list
    """  # noqa: D301  click reads the backspace
    operator.output.many([_row(each) for each in signing_keys.list_keys()], _COLUMNS)


@key.command()
@command
def rotate(operator: Operator) -> None:
    """Make a new key, which signs ten minutes later; no token ends because of it.

    One that failed half-way goes on with the same key when it is run again; so does one that is
    run again while the key waits.

    \b
    Examples:
      stowage key rotate
      stowage key list
    """  # noqa: D301  click reads the backspace
    with operator.output.progress() as progress:
        new = signing_keys.rotate(progress)
    _show(operator, new)
    wait = new.signs_from - int(time.time())
    if wait > 0:
        operator.output.say(f"It signs in {wait} s, when everybody may use it.")
    operator.output.say("Retire the key before it an hour later, when its tokens have expired.")


@key.command()
@click.argument("kid")
@click.option(
    "--now", is_flag=True, help="Also while tokens live that it has signed, as after a leak."
)
@command
def retire(operator: Operator, *, kid: str, now: bool) -> None:
    """Accept no more what KID has signed, and let KMS delete it after seven days.

    It is refused for the key that signs, and until the last token of another has expired. With
    --now every token that it has signed ends within minutes, and whoever has one must ask for
    another.

    \b
    Examples:
      stowage key retire 9f86d081884c7d65
      stowage key rotate && stowage key retire 9f86d081884c7d65 --now
    """  # noqa: D301  click reads the backspace
    retired = signing_keys.retire(kid, now=now)
    _show(operator, retired)
    operator.output.say(f"{kid} is retired.")


def _show(operator: Operator, wanted: SigningKey) -> None:
    (row,) = (_row(each) for each in signing_keys.list_keys() if each.key.kid == wanted.kid)
    operator.output.one(row)

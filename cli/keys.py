"""`stowage key …`."""

import time
from typing import Any

import click

from cli.confirmation import confirm, yes_option
from cli.operator import CommandContext, command
from operations import signing_keys
from operations.signing_keys import KeyStatus
from shared.identity.auth.key_ring import SigningKey
from shared.kernel.clock import Instant, instant

_COLUMNS = ("kid", "state", "signs_from", "can_be_retired", "kms_key")


def _row(known: KeyStatus) -> dict[str, Any]:
    return {
        "kid": known.key.kid,
        "state": known.state,
        "signs_from": _instant(known.key.signs_from),
        "retires_from": _instant(known.retirable_from),
        "can_be_retired": _retirement(known),
        "retired_at": _instant(known.key.retired_at),
        "kms_key": known.key.kms_key,
    }


def _retirement(known: KeyStatus) -> str:
    """Say when a key can be retired, or what has to happen before."""
    if known.state == "retired":
        return f"retired at {_instant(known.key.retired_at)}"
    if known.state == "waits":
        return "at any time: it has signed no token"
    if known.retirable_from is None:
        return "after the next rotation"
    passed = known.retirable_from <= time.time()
    return "now" if passed else f"from {_instant(known.retirable_from)} on"


def _instant(second: int | None) -> Instant | None:
    return instant(second * 1000) if second else None


@click.group()
def key() -> None:
    """Manage the keys that sign access tokens; the private keys never leave KMS."""


@key.command("list")
@command
def list_(operator: CommandContext) -> None:
    """List the keys, including retired ones.

    \b
    Column "state":
      waits     begins to sign at "signs from"
      signs     signs new tokens
      verifies  signs no more; its tokens are accepted until it is retired
      retired   its tokens are refused; KMS deletes the key after seven days

    Column "can be retired" says from when on a key can be retired without ending a valid token.

    \b
    Example:
      stowage key list
    """  # noqa: D301  click reads the backspace
    operator.output.many([_row(each) for each in signing_keys.list_keys()], _COLUMNS)


@key.command()
@command
def rotate(operator: CommandContext) -> None:
    """Create a new key, which begins to sign ten minutes later; existing tokens stay valid.

    A rotation that failed continues with the same key when it is run again. Until the new key has
    signed for ten minutes, the command returns the same key.

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
        operator.output.say(f"The new key begins to sign in {wait} s.")
    for known in signing_keys.list_keys():
        if known.state in {"signs", "verifies"} and known.key.kid != new.kid:
            operator.output.say(f"The key {known.key.kid} can be retired {_retirement(known)}.")


@key.command()
@click.argument("kid")
@click.option(
    "--now",
    is_flag=True,
    help="Retire the key although its tokens are still valid, for example after a leak.",
)
@yes_option
@command
def retire(operator: CommandContext, *, kid: str, now: bool, yes: bool) -> None:
    """Refuse tokens signed by the key KID, and delete the key in KMS after seven days.

    The command is refused for the key that signs, and until the last token of the key has expired.
    With --now all tokens signed by the key stop working within minutes; clients and users have to
    request new ones. The command asks for confirmation.

    \b
    Examples:
      stowage key retire 9f86d081884c7d65
      stowage key rotate && stowage key retire 9f86d081884c7d65 --now
    """  # noqa: D301  click reads the backspace
    if signing_keys.check_retirement(kid, now=now).retired_at is None:
        ends = (
            "Within minutes all tokens that it signed are refused: clients and users of all "
            "tenants have to request new ones."
            if now
            else "No valid token needs it."
        )
        confirm(
            operator,
            f"This retires the key {kid} for good; KMS deletes it after seven days. {ends}",
            yes=yes,
        )
    retired = signing_keys.retire(kid, now=now)
    _show(operator, retired)
    operator.output.say(f"{kid} is retired.")


def _show(operator: CommandContext, wanted: SigningKey) -> None:
    (row,) = (_row(each) for each in signing_keys.list_keys() if each.key.kid == wanted.kid)
    operator.output.one(row)

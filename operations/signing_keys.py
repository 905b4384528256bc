"""Changing the keys that sign tokens, as operators do it; no token ends because of it.

A new key is listed at once and signs `_ACTIVATION_DELAY` seconds later, when every authorizer
has had the time to learn of it and KMS knows that functions may use it. An older key verifies
until it is retired, which waits until its last token has expired.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal

from shared.identity.auth import signing
from shared.identity.auth.keys import KEYS, SHOWN_BEFORE, Key, Keys, item_of, keys_of
from shared.identity.auth.tokens import LIFETIME
from shared.identity.tenancy.directory import read
from shared.kernel.aws import client
from shared.kernel.clock import instant, now_ms
from shared.kernel.config import config
from shared.kernel.errors import Conflict, NotFound

_ACTIVATION_DELAY = 300 + SHOWN_BEFORE
"""Seconds from making a key to signing with it. Functions may use keys by their tags, and it may
take KMS 300 s to follow tags; nobody asks for the key before that."""

_ROTATION_WINDOW = 600
"""Seconds from its beginning to sign in which whoever rotates once more means the rotation whose
end they did not see."""

_LAST_TOKEN_DELAY = LIFETIME + 60
"""Seconds after its last signature until a key's last token has expired; clocks differ."""

_DELETION_DELAY_DAYS = 7
"""The least that KMS allows, in which a deletion can be taken back."""

type KeyState = Literal["waits", "signs", "verifies", "retired"]


@dataclass(frozen=True, slots=True)
class KnownKey:
    """A key and what it does at the moment."""

    key: Key
    state: KeyState
    retires_from: int | None
    """Second since the epoch from which no token needs it any more; None while it signs."""


def list_keys() -> list[KnownKey]:
    """All keys, the retired ones too, the oldest first."""
    keys, now = _read_keys(), now_ms() // 1000
    return [
        KnownKey(key, _state(keys, key, now), _retirable_from(keys, key, now)) for key in keys.all
    ]


def _state(keys: Keys, key: Key, now: int) -> KeyState:
    if key.retired_at is not None:
        return "retired"
    if key == keys.signer(now):
        return "signs"
    return "waits" if key.signs_from > now else "verifies"


def _retirable_from(keys: Keys, key: Key, now: int) -> int | None:
    """When the last token expires that the key has signed or will sign."""
    if key == keys.signer(now):
        return None
    if key.signs_from > now:
        return now  # it has signed nothing yet
    later = [each.signs_from for each in keys.in_use if each.signs_from > key.signs_from]
    return min(later, default=0) + _LAST_TOKEN_DELAY


def rotate(progress: Callable[[str], None] = lambda _step: None) -> Key:
    """Make a new key and list it; it signs some minutes later.

    Cut off anywhere and run again, it goes on with the key that it had made; run again before
    the key has signed for ten minutes, it returns the same key.

    Args:
        progress: Told each step.

    Returns:
        The new key; `signs_from` tells when it begins to sign.

    Raises:
        Conflict: Somebody else changed the keys at the same time.
    """
    before = _read_keys()
    newest = before.all[-1]
    if newest.retired_at is None and now_ms() // 1000 < newest.signs_from + _ROTATION_WINDOW:
        _clear_pending_key([newest])
        return newest
    _clear_pending_key(before.all)  # a former rotation may have died just before that
    progress("making the key")
    kms_key = _ensure_pending_key()
    signing.public_key(kms_key)  # whoever verifies will need it: now, or never listed
    progress("listing it")
    new = Key(kms_key, now_ms() // 1000 + _ACTIVATION_DELAY)
    _write_keys(before, Keys((*before.all, new), before.version + 1))
    _clear_pending_key([new])
    return new


def retire(kid: str, *, now: bool = False) -> Key:
    """Stop accepting what a key has signed, and have KMS delete the key. Safe to repeat.

    Args:
        kid: The key.
        now: Also while tokens live that it has signed, as after a leak; they end within
            minutes, when the last authorizer has looked again. Where no other key has begun to
            sign, the next one does at once, and there may be no tokens until KMS knows it.

    Raises:
        NotFound: There is no such key.
        Conflict: It is the one that signs, or tokens that it signed may still live.
    """
    keys, moment = _read_keys(), now_ms() // 1000
    key = next((each for each in keys.all if each.kid == kid), None)
    if key is None:
        raise NotFound(f"The key {kid}")
    if key.retired_at is None:
        _ensure_retirable(keys, key, moment, now=now)
        key = replace(key, retired_at=moment)
        _write_keys(keys, _with_retired(keys, key, moment))
    _schedule_deletion(key.kms_key)
    _clear_pending_key([key])  # a rotation that was cut off may still have it in hand
    return key


def _with_retired(keys: Keys, retired: Key, moment: int) -> Keys:
    """Return the keys after one was retired; another signs without a gap."""
    rest = tuple(retired if each.kid == retired.kid else each for each in keys.all)
    signer = Keys(rest).signer(moment)
    at_once = replace(signer, signs_from=min(signer.signs_from, moment))
    return Keys(tuple(at_once if each == signer else each for each in rest), keys.version + 1)


def _ensure_retirable(keys: Keys, key: Key, moment: int, *, now: bool) -> None:
    if len(keys.in_use) == 1:
        raise Conflict("It is the only key; make another one first with `stowage key rotate`.")
    if now:
        return
    unneeded_from = _retirable_from(keys, key, moment)
    if unneeded_from is None:
        raise Conflict("It signs tokens; make another one first with `stowage key rotate`.")
    if moment < unneeded_from:
        raise Conflict(
            f"Tokens that it signed may live until {instant(unneeded_from * 1000)}. "
            "With --now they end within minutes."
        )


def _read_keys() -> Keys:
    return keys_of(read(KEYS))


def _write_keys(seen: Keys, after: Keys) -> None:
    dynamodb = client("dynamodb")
    condition: dict[str, Any] = {"ConditionExpression": "attribute_not_exists(pk)"}
    if seen.version:
        condition = {
            "ConditionExpression": "version = :seen",
            "ExpressionAttributeValues": {":seen": {"N": str(seen.version)}},
        }
    try:
        dynamodb.put_item(TableName=config().control_table, Item=item_of(after), **condition)
    except dynamodb.exceptions.ConditionalCheckFailedException as error:
        # also when the answer was lost and AWS was asked again
        if _read_keys() != after:
            message = "The keys were changed at the same time; look, then run it again."
            raise Conflict(message) from error


# The key in hand: an alias names it until it is listed


def _pending_alias() -> str:
    return f"alias/{config().stack}-signing-next"


def _ensure_pending_key() -> str:
    """Find the key that an interrupted rotation left, or make one."""
    kms = client("kms")
    left = _pending_kms_key()
    if left:
        return left
    made: str = kms.create_key(
        Description="Signs access tokens.",
        KeySpec="ECC_NIST_P256",
        KeyUsage="SIGN_VERIFY",
        # functions may use the keys that bear these tags
        Tags=[
            {"TagKey": "service", "TagValue": "stowage"},
            {"TagKey": "stack", "TagValue": config().stack},
            {"TagKey": "purpose", "TagValue": "signing"},
        ],
    )["KeyMetadata"]["KeyId"]
    try:
        kms.create_alias(AliasName=_pending_alias(), TargetKeyId=made)
    except kms.exceptions.AlreadyExistsException:
        # somebody else rotates; or it is our own, and the answer was lost
        first = _pending_kms_key()
        if first == made:
            return made
        _schedule_deletion(made)
        raise Conflict("The keys are being changed by somebody else; run it again.") from None
    return made


def _pending_kms_key() -> str | None:
    kms = client("kms")
    try:
        key: str = kms.describe_key(KeyId=_pending_alias())["KeyMetadata"]["KeyId"]
    except kms.exceptions.NotFoundException:
        return None
    return key


def _clear_pending_key(listed: Iterable[Key]) -> None:
    """Remove the alias if it names a key that is listed; it may be another's by now."""
    kms = client("kms")
    if _pending_kms_key() not in {key.kms_key for key in listed}:
        return
    try:
        kms.delete_alias(AliasName=_pending_alias())
    except kms.exceptions.NotFoundException:
        return


def _schedule_deletion(kms_key: str) -> None:
    kms = client("kms")
    try:
        kms.schedule_key_deletion(KeyId=kms_key, PendingWindowInDays=_DELETION_DELAY_DAYS)
    except kms.exceptions.KMSInvalidStateException:
        return  # an earlier run did it
    except kms.exceptions.NotFoundException:
        return  # it is gone

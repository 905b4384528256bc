"""Changing the keys that sign tokens, as operators do it; no token ends because of it.

A new key is listed at once and signs `_USABLE_EVERYWHERE` seconds later, when every authorizer
has had the time to learn of it and KMS knows that functions may use it. An older key verifies
until it is retired, which waits until its last token has expired.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal

from shared.identity.auth import signing
from shared.identity.auth.key_ring import (
    KEYS,
    PUBLISH_LEAD,
    SigningKey,
    SigningKeys,
    keys_from_item,
    keys_to_item,
)
from shared.identity.auth.tokens import LIFETIME
from shared.identity.tenancy.directory import read_item
from shared.kernel.aws import client
from shared.kernel.clock import instant, now_ms
from shared.kernel.config import config
from shared.kernel.errors import Conflict, NotFound

_USABLE_EVERYWHERE = 300 + PUBLISH_LEAD
"""Seconds from making a key to signing with it. Functions may use keys by their tags, and it may
take KMS 300 s to follow tags; nobody asks for the key before that."""

_SAME_ROTATION = 600
"""Seconds from its beginning to sign in which whoever rotates once more means the rotation whose
end they did not see."""

_LAST_TOKENS = LIFETIME + 60
"""Seconds after its last signature until a key's last token has expired; clocks differ."""

_DELETED_AFTER_DAYS = 7
"""The least that KMS allows, in which a deletion can be taken back."""

type KeyState = Literal["waits", "signs", "verifies", "retired"]


@dataclass(frozen=True, slots=True)
class KnownKey:
    """A key and what it does at the moment."""

    key: SigningKey
    state: KeyState
    retires_from: int | None
    """Second since the epoch from which no token needs it any more; None while it signs."""


def list_keys() -> list[KnownKey]:
    """All keys, the retired ones too, the oldest first."""
    keys, now = _read(), now_ms() // 1000
    return [
        KnownKey(key, _state(keys, key, now), _unneeded_from(keys, key, now)) for key in keys.all
    ]


def _state(keys: SigningKeys, key: SigningKey, now: int) -> KeyState:
    if key.retired_at is not None:
        return "retired"
    if key == keys.signing_key(now):
        return "signs"
    return "waits" if key.signs_from > now else "verifies"


def _unneeded_from(keys: SigningKeys, key: SigningKey, now: int) -> int | None:
    """When the last token expires that the key has signed or will sign."""
    if key == keys.signing_key(now):
        return None
    if key.signs_from > now:
        return now  # it has signed nothing yet
    later = [each.signs_from for each in keys.in_use if each.signs_from > key.signs_from]
    return min(later, default=0) + _LAST_TOKENS


def rotate(progress: Callable[[str], None] = lambda _step: None) -> SigningKey:
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
    before = _read()
    newest = before.all[-1]
    if newest.retired_at is None and now_ms() // 1000 < newest.signs_from + _SAME_ROTATION:
        _let_go([newest])
        return newest
    _let_go(before.all)  # a former rotation may have died just before that
    progress("making the key")
    kms_key = _key_in_hand()
    signing.public_key(kms_key)  # whoever verifies will need it: now, or never listed
    progress("listing it")
    new = SigningKey(kms_key, now_ms() // 1000 + _USABLE_EVERYWHERE)
    _write(before, SigningKeys((*before.all, new), before.version + 1))
    _let_go([new])
    return new


def retire(kid: str, *, now: bool = False) -> SigningKey:
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
    keys, moment = _read(), now_ms() // 1000
    key = next((each for each in keys.all if each.kid == kid), None)
    if key is None:
        raise NotFound(f"The key {kid}")
    if key.retired_at is None:
        _ensure_unneeded(keys, key, moment, now=now)
        key = replace(key, retired_at=moment)
        _write(keys, _without(keys, key, moment))
    _delete(key.kms_key)
    _let_go([key])  # a rotation that was cut off may still have it in hand
    return key


def _without(keys: SigningKeys, retired: SigningKey, moment: int) -> SigningKeys:
    """Return the keys after one was retired; another signs without a gap."""
    rest = tuple(retired if each.kid == retired.kid else each for each in keys.all)
    signer = SigningKeys(rest).signing_key(moment)
    at_once = replace(signer, signs_from=min(signer.signs_from, moment))
    return SigningKeys(
        tuple(at_once if each == signer else each for each in rest), keys.version + 1
    )


def _ensure_unneeded(keys: SigningKeys, key: SigningKey, moment: int, *, now: bool) -> None:
    if len(keys.in_use) == 1:
        raise Conflict("It is the only key; make another one first with `stowage key rotate`.")
    if now:
        return
    unneeded_from = _unneeded_from(keys, key, moment)
    if unneeded_from is None:
        raise Conflict("It signs tokens; make another one first with `stowage key rotate`.")
    if moment < unneeded_from:
        raise Conflict(
            f"Tokens that it signed may live until {instant(unneeded_from * 1000)}. "
            "With --now they end within minutes."
        )


def _read() -> SigningKeys:
    return keys_from_item(read_item(KEYS))


def _write(seen: SigningKeys, after: SigningKeys) -> None:
    dynamodb = client("dynamodb")
    condition: dict[str, Any] = {"ConditionExpression": "attribute_not_exists(pk)"}
    if seen.version:
        condition = {
            "ConditionExpression": "version = :seen",
            "ExpressionAttributeValues": {":seen": {"N": str(seen.version)}},
        }
    try:
        dynamodb.put_item(TableName=config().control_table, Item=keys_to_item(after), **condition)
    except dynamodb.exceptions.ConditionalCheckFailedException as error:
        # also when the answer was lost and AWS was asked again
        if _read() != after:
            message = "The keys were changed at the same time; look, then run it again."
            raise Conflict(message) from error


# The key in hand: an alias names it until it is listed


def _alias() -> str:
    return f"alias/{config().stack}-signing-next"


def _key_in_hand() -> str:
    """Find the key that an interrupted rotation left, or make one."""
    kms = client("kms")
    left = _aliased()
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
        kms.create_alias(AliasName=_alias(), TargetKeyId=made)
    except kms.exceptions.AlreadyExistsException:
        # somebody else rotates; or it is our own, and the answer was lost
        first = _aliased()
        if first == made:
            return made
        _delete(made)
        raise Conflict("The keys are being changed by somebody else; run it again.") from None
    return made


def _aliased() -> str | None:
    kms = client("kms")
    try:
        key: str = kms.describe_key(KeyId=_alias())["KeyMetadata"]["KeyId"]
    except kms.exceptions.NotFoundException:
        return None
    return key


def _let_go(listed: Iterable[SigningKey]) -> None:
    """Remove the alias if it names a key that is listed; it may be another's by now."""
    kms = client("kms")
    if _aliased() not in {key.kms_key for key in listed}:
        return
    try:
        kms.delete_alias(AliasName=_alias())
    except kms.exceptions.NotFoundException:
        return


def _delete(kms_key: str) -> None:
    kms = client("kms")
    try:
        kms.schedule_key_deletion(KeyId=kms_key, PendingWindowInDays=_DELETED_AFTER_DAYS)
    except kms.exceptions.KMSInvalidStateException:
        return  # an earlier run did it
    except kms.exceptions.NotFoundException:
        return  # it is gone

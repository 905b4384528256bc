"""Rotation and retirement of the keys that sign access tokens; a rotation ends no token.

A new key is listed at once and signs `_ACTIVATION_DELAY` seconds later. By then every authorizer
has read the list, and KMS grants the functions the use of the key. An older key still verifies
tokens until it is retired, which is refused until its last token has expired.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal

from operations.progress import ReportProgress, no_progress
from shared.identity.auth import signing
from shared.identity.auth.key_ring import (
    KEYS,
    PUBLISH_LEAD,
    SigningKey,
    SigningKeys,
    keys_from_item,
)
from shared.identity.auth.tokens import LIFETIME
from shared.identity.tenancy.directory import read_item
from shared.kernel.aws import client
from shared.kernel.clock import instant, now_ms
from shared.kernel.config import config
from shared.kernel.errors import Conflict, NotFound

_ACTIVATION_DELAY = 300 + PUBLISH_LEAD
"""Seconds from the creation of a key to its first signature. The policies of the functions allow
keys by their tags, and a tag may take 300 s to take effect in KMS."""

_ROTATION_WINDOW = 600
"""Seconds after a key begins to sign in which a further rotation returns the same key: it is taken
for a repetition of the command."""

_LAST_TOKEN_DELAY = LIFETIME + 60
"""Seconds after a key's last signature until its last token has expired, with 60 s for clock
differences."""

_DELETION_DELAY_DAYS = 7
"""Days in which the deletion of a KMS key can be cancelled; 7 is the minimum."""

type KeyState = Literal["waits", "signs", "verifies", "retired"]


@dataclass(frozen=True, slots=True)
class KeyStatus:
    """A key and its current state."""

    key: SigningKey
    state: KeyState
    retirable_from: int | None
    """Time (seconds since the epoch) when its last token expires; None if no other key waits to
    sign in its place."""


def list_keys() -> list[KeyStatus]:
    """Return all keys, including retired ones, the oldest first."""
    keys, now = _read_keys(), now_ms() // 1000
    return [
        KeyStatus(key, _state(keys, key, now), _retirable_from(keys, key, now)) for key in keys.all
    ]


def _state(keys: SigningKeys, key: SigningKey, now: int) -> KeyState:
    if key.retired_at is not None:
        return "retired"
    if key == keys.signing_key(now):
        return "signs"
    return "waits" if key.signs_from > now else "verifies"


def _retirable_from(keys: SigningKeys, key: SigningKey, now: int) -> int | None:
    """Return when the last token expires that the key has signed; None if no key follows it."""
    if key.signs_from > now and key != keys.signing_key(now):
        return now  # It has not signed any token yet.
    later = [each.signs_from for each in keys.in_use if each.signs_from > key.signs_from]
    if not later and key == keys.signing_key(now):
        return None
    return min(later, default=0) + _LAST_TOKEN_DELAY


def rotate(progress: ReportProgress = no_progress) -> SigningKey:
    """Create a new key and list it; it begins to sign ten minutes later.

    An interrupted rotation that is run again continues with the key it had created. A rotation that
    is run again before the new key has signed for ten minutes returns the same key.

    Args:
        progress: Receives a description of each step.

    Returns:
        The new key, which begins to sign at `signs_from`.

    Raises:
        Conflict: The keys were changed concurrently.
    """
    before = _read_keys()
    newest = before.all[-1]
    if newest.retired_at is None and now_ms() // 1000 < newest.signs_from + _ROTATION_WINDOW:
        _clear_pending_key([newest])
        return newest
    _clear_pending_key(before.all)  # An earlier rotation may have failed before this step.
    progress("creating the key")
    kms_key = _ensure_pending_key()
    signing.public_key(kms_key)  # A key whose public key cannot be read must not be listed.
    progress("adding it to the list of keys")
    new = SigningKey(kms_key, now_ms() // 1000 + _ACTIVATION_DELAY)
    _write_keys(before, SigningKeys((*before.all, new), before.version + 1))
    _clear_pending_key([new])
    return new


def retire(kid: str, *, now: bool = False) -> SigningKey:
    """Stop accepting tokens signed by a key, and schedule its deletion in KMS. Safe to repeat.

    Args:
        kid: The key.
        now: Retire the key although tokens signed by it are still valid, as after a leak. They
            are refused within minutes, when every authorizer has read the list again. If no other
            key signs yet, the next key signs at once; no token can be issued until KMS allows it.

    Raises:
        NotFound: There is no such key.
        Conflict: The key signs tokens, or tokens signed by it may still be valid.
    """
    keys, moment = _read_keys(), now_ms() // 1000
    key = _find_retirable(keys, kid, moment, now=now)
    if key.retired_at is None:
        key = replace(key, retired_at=moment)
        _write_keys(keys, _with_retired(keys, key, moment))
    _schedule_deletion(key.kms_key)
    _clear_pending_key([key])  # An interrupted rotation may have left the alias.
    return key


def check_retirement(kid: str, *, now: bool) -> SigningKey:
    """Return a key that `retire` would retire now, or that is retired. Raises as `retire`."""
    return _find_retirable(_read_keys(), kid, now_ms() // 1000, now=now)


def _find_retirable(keys: SigningKeys, kid: str, moment: int, *, now: bool) -> SigningKey:
    key = next((each for each in keys.all if each.kid == kid), None)
    if key is None:
        raise NotFound(f"The key {kid}")
    if key.retired_at is None:
        _ensure_retirable(keys, key, moment, now=now)
    return key


def _with_retired(keys: SigningKeys, retired: SigningKey, moment: int) -> SigningKeys:
    """Return the keys with one retired, and with another one that signs without a gap."""
    rest = tuple(retired if each.kid == retired.kid else each for each in keys.all)
    signer = SigningKeys(rest).signing_key(moment)
    at_once = replace(signer, signs_from=min(signer.signs_from, moment))
    return SigningKeys(
        tuple(at_once if each == signer else each for each in rest), keys.version + 1
    )


def _ensure_retirable(keys: SigningKeys, key: SigningKey, moment: int, *, now: bool) -> None:
    if len(keys.in_use) == 1:
        raise Conflict(
            f"The key {key.kid} is the only one. Create another key first (stowage key rotate)."
        )
    if now:
        return
    retirable_from = _retirable_from(keys, key, moment)
    if retirable_from is None:
        raise Conflict(
            f"The key {key.kid} signs tokens. Create another key first (stowage key rotate), and "
            "retire this one when its last token has expired."
        )
    if moment < retirable_from:
        signs = f"The key {key.kid} signs tokens. " if key == keys.signing_key(moment) else ""
        raise Conflict(
            f"{signs}Tokens signed by the key {key.kid} may be valid until "
            f"{instant(retirable_from * 1000)}. Retire it after that, or with --now, which ends "
            "them within minutes."
        )


def _read_keys() -> SigningKeys:
    return keys_from_item(read_item(KEYS))


def _write_keys(seen: SigningKeys, after: SigningKeys) -> None:
    dynamodb = client("dynamodb")
    condition: dict[str, Any] = {"ConditionExpression": "attribute_not_exists(pk)"}
    if seen.version:
        condition = {
            "ConditionExpression": "version = :seen",
            "ExpressionAttributeValues": {":seen": {"N": str(seen.version)}},
        }
    try:
        dynamodb.put_item(TableName=config().control_table, Item=_keys_to_item(after), **condition)
    except dynamodb.exceptions.ConditionalCheckFailedException as error:
        # The condition also fails if the response was lost and botocore sent the request again.
        if _read_keys() != after:
            raise Conflict(
                "The keys were changed by another command at the same time. Check them (stowage "
                "key list), then run the command again."
            ) from error


def _keys_to_item(keys: SigningKeys) -> dict[str, Any]:
    """Return the item in DynamoDB's JSON."""
    return {
        "pk": {"S": KEYS},
        "version": {"N": str(keys.version)},
        "keys": {"L": [{"M": _attributes(key)} for key in keys.all]},
    }


def _attributes(key: SigningKey) -> dict[str, Any]:
    attributes: dict[str, Any] = {
        "kms_key": {"S": key.kms_key},
        "signs_from": {"N": str(key.signs_from)},
    }
    if key.retired_at is not None:
        attributes["retired_at"] = {"N": str(key.retired_at)}
    return attributes


# The pending key: an alias points to it from its creation until it is listed


def _pending_alias() -> str:
    return f"alias/{config().stack}-signing-next"


def _ensure_pending_key() -> str:
    """Return the key that an interrupted rotation has left, or create one."""
    kms = client("kms")
    pending = _pending_kms_key()
    if pending:
        return pending
    created: str = kms.create_key(
        Description="Signs access tokens.",
        KeySpec="ECC_NIST_P256",
        KeyUsage="SIGN_VERIFY",
        # The policies of the functions allow the use of keys with these tags.
        Tags=[
            {"TagKey": "service", "TagValue": "stowage"},
            {"TagKey": "stack", "TagValue": config().stack},
            {"TagKey": "purpose", "TagValue": "signing"},
        ],
    )["KeyMetadata"]["KeyId"]
    try:
        kms.create_alias(AliasName=_pending_alias(), TargetKeyId=created)
    except kms.exceptions.AlreadyExistsException:
        # A concurrent rotation has created the alias, or this one has and its response was lost.
        if _pending_kms_key() == created:
            return created
        _schedule_deletion(created)
        raise Conflict(
            "Another command is rotating the keys at this moment. Run the command again."
        ) from None
    return created


def _pending_kms_key() -> str | None:
    kms = client("kms")
    try:
        key: str = kms.describe_key(KeyId=_pending_alias())["KeyMetadata"]["KeyId"]
    except kms.exceptions.NotFoundException:
        return None
    return key


def _clear_pending_key(listed: Iterable[SigningKey]) -> None:
    """Remove the alias if it points to one of the `listed` keys."""
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
        return  # An earlier run has scheduled it.
    except kms.exceptions.NotFoundException:
        return  # The key is already deleted.

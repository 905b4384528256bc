"""Rotation and retirement of signing keys while tokens are issued and verified."""

import json
import time
from contextlib import suppress

import pytest

from operations import signing_keys
from operations.api_clients import Credentials
from operations.signing_keys import KeyStatus, list_keys, retire, rotate
from shared.identity.auth import signing, tokens
from shared.identity.auth.key_ring import (
    UNKNOWN_KEY_REREAD,
    KeyRing,
    SigningKey,
    SigningKeys,
    key_ring,
)
from shared.identity.auth.tokens import LIFETIME
from shared.identity.tenancy.directory import directory
from shared.kernel.aws import client
from shared.kernel.config import config
from shared.kernel.errors import Conflict, NotFound
from tests.faults import AwsFaults, kill_at, stuck_at
from tests.integration.user_grants.oauth_requests import (
    authorize,
    send,
    token_of,
)
from tests.sampling import sampled
from tests.stack import clear_caches_except_clients


class MovableClock:
    """The clock of the service, moved by the test."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._ahead = 0.0
        now = time.time
        monkeypatch.setattr(time, "time", lambda: now() + self._ahead)

    def advance(self, seconds: float) -> None:
        self._ahead += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> MovableClock:
    return MovableClock(monkeypatch)


def kid_of(token: str) -> str:
    kid: str = tokens._json(token.split(".", maxsplit=1)[0])["kid"]
    return kid


def is_accepted(token: str) -> bool:
    return outcome(token) == "Allow"


def outcome(token: str) -> str:
    """Return what the authorizer answers: Allow, Deny, or Unauthorized, which is not cached."""
    try:
        verdict = authorize(token)
    except Exception as refusal:
        if str(refusal) != "Unauthorized":
            raise
        return "Unauthorized"
    effect: str = verdict["policyDocument"]["Statement"][0]["Effect"]
    return effect


def states() -> list[str]:
    return [known.state for known in list_keys()]


def signing_now() -> KeyStatus:
    (one,) = (known for known in list_keys() if known.state == "signs")
    return one


def published() -> set[str]:
    _, _, keys = send("GET", "/v1/.well-known/jwks.json")
    return {key["kid"] for key in keys["keys"]}


def test_keys_of_the_deployment_are_used_before_the_first_rotation(acme: Credentials) -> None:
    assert [known.key.kms_key for known in list_keys()] == list(config().signing_keys)
    assert states() == ["signs", "verifies"]
    assert kid_of(token_of(acme)) == signing.kid_of(config().signing_keys[0])


def test_rotation_invalidates_no_token(acme: Credentials, clock: MovableClock) -> None:
    old = token_of(acme)
    assert is_accepted(old)
    new_key = rotate()
    assert states() == ["signs", "verifies", "waits"]
    # every environment must know the key, and KMS must allow its use, before it signs
    assert kid_of(token_of(acme)) == kid_of(old)
    assert new_key.kid not in published()
    clock.advance(310)
    assert new_key.kid in published()
    assert kid_of(token_of(acme)) == kid_of(old)
    clock.advance(300)
    new = token_of(acme)
    assert kid_of(new) == new_key.kid
    assert states() == ["verifies", "verifies", "signs"]
    assert is_accepted(old)
    assert is_accepted(new)


def test_authorizer_reads_a_new_key_before_it_signs(acme: Credentials, clock: MovableClock) -> None:
    other = KeyRing(clock=time.time)
    other.find("unknown", 0)  # an unknown kid caused a read just before the key was published
    new_key = rotate()
    assert other.find(new_key.kid, 0) is None
    clock.advance(new_key.signs_from - time.time())
    assert other.find(new_key.kid, 0) == new_key
    assert acme


def test_unknown_kids_cause_one_read_in_ten_seconds(
    acme: Credentials, aws_faults: AwsFaults, clock: MovableClock
) -> None:
    good = token_of(acme)
    assert is_accepted(good)
    header, rest = json.dumps({"alg": "ES256", "typ": "at+jwt", "kid": "KID"}), good.split(".")[1:]

    def forged(number: int) -> str:
        kid = header.replace("KID", f"{number:016x}").encode()
        return ".".join([signing.base64url(kid), *rest])

    clock.advance(UNKNOWN_KEY_REREAD + 1)
    with aws_faults.recorded() as calls:
        assert not any(is_accepted(forged(number)) for number in range(50))
    assert calls.operations == ["GetItem"]
    with aws_faults.recorded() as calls:
        assert is_accepted(good)
    assert calls.operations == []
    clock.advance(UNKNOWN_KEY_REREAD + 1)
    with aws_faults.recorded() as calls:
        assert not is_accepted(forged(1))
        assert not is_accepted(forged(2))
    assert calls.operations == ["GetItem"]


def test_token_of_a_key_that_signs_at_once_is_accepted_after_ten_seconds(
    acme: Credentials, clock: MovableClock
) -> None:
    """After a leak: the authorizer has just read the keys, and a refusal must not be cached."""
    old = token_of(acme)
    clock.advance(60)
    unknown = f"{tokens._part({'alg': 'ES256', 'typ': 'at+jwt', 'kid': '0' * 16})}."
    assert outcome(unknown + old.partition(".")[2]) == "Deny", "the keys were read for this token"
    authorizers_keys = key_ring._cached, key_ring._read_at
    clock.advance(3)
    leaked = [known.key.kid for known in list_keys()]
    new_key = rotate()
    for kid in leaked:
        retire(kid, now=True)
    key_ring.clear()  # the token routes have an environment of their own
    new = token_of(acme)
    assert kid_of(new) == new_key.kid
    key_ring._cached, key_ring._read_at = authorizers_keys
    assert outcome(new) == "Unauthorized"
    clock.advance(UNKNOWN_KEY_REREAD)
    assert outcome(new) == "Allow"


def test_refusal_is_final_when_the_keys_are_newer_than_the_token(
    acme: Credentials, clock: MovableClock
) -> None:
    old = token_of(acme)
    clock.advance(60)
    forged = [
        f"{tokens._part({'alg': 'ES256', 'typ': 'at+jwt', 'kid': f'{number:016x}'})}."
        for number in range(3)
    ]
    assert [outcome(one + old.partition(".")[2]) for one in forged] == ["Deny"] * 3


def test_known_keys_are_cached_for_five_minutes(
    acme: Credentials,
    aws_faults: AwsFaults,
    clock: MovableClock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(directory, "_clock", lambda: 0.0)  # tenants and hosts stay cached
    token = token_of(acme)
    assert is_accepted(token)
    clock.advance(290)
    with aws_faults.recorded() as calls:
        assert is_accepted(token)
    assert "GetPublicKey" not in calls.operations
    assert calls.operations.count("GetItem") == 0
    clock.advance(20)
    with aws_faults.recorded() as calls:
        assert is_accepted(token)
    assert calls.operations == ["GetItem"], "reads the keys, but no public key again"


def test_issuing_a_token_needs_no_extra_call_for_the_keys(
    acme: Credentials, aws_faults: AwsFaults
) -> None:
    rotate()
    token_of(acme)
    with aws_faults.recorded() as calls:
        token_of(acme)
    # the token is counted while it is signed
    assert sorted(calls.operations) == ["BatchGetItem", "GenerateMac", "Sign", "UpdateItem"]


# Retirement


def test_key_can_be_retired_after_its_last_token_has_expired(
    acme: Credentials, clock: MovableClock
) -> None:
    first = signing_now().key
    with pytest.raises(Conflict, match="signs tokens"):
        retire(first.kid)
    new = rotate()
    with pytest.raises(Conflict, match="signs tokens"):
        retire(first.kid)
    clock.advance(610)
    last = token_of(acme)
    assert kid_of(last) == new.kid
    with pytest.raises(Conflict, match="may be valid until"):
        retire(first.kid)
    clock.advance(LIFETIME + 30)
    with pytest.raises(Conflict, match="may be valid until"):
        retire(first.kid)
    clock.advance(50)
    assert retire(first.kid).retired_at
    assert states() == ["retired", "verifies", "signs"]
    assert first.kid not in published()
    key = client("kms").describe_key(KeyId=first.kms_key)["KeyMetadata"]
    assert key["KeyState"] == "PendingDeletion"


def test_key_that_has_not_signed_can_be_retired_at_once(acme: Credentials) -> None:
    assert acme
    before = int(time.time())
    new = rotate()
    (waiting,) = (known for known in list_keys() if known.key == new)
    assert waiting.state == "waits"
    assert waiting.retirable_from
    assert before <= waiting.retirable_from <= time.time()
    retire(new.kid)
    assert states()[-1] == "retired"


def test_leaked_key_can_be_retired_immediately(acme: Credentials, clock: MovableClock) -> None:
    leaked, token = signing_now().key, token_of(acme)
    assert is_accepted(token)
    new = rotate()
    retire(leaked.kid, now=True)
    # an authorizer that cached the key reads the keys again within minutes
    clock.advance(301)
    assert not is_accepted(token)
    assert leaked.kid not in published()
    # one of the remaining keys signs without a gap
    fresh = token_of(acme)
    assert kid_of(fresh) != leaked.kid
    assert is_accepted(fresh)
    clock.advance(610)
    assert kid_of(token_of(acme)) == new.kid
    assert not is_accepted(token)


def test_last_key_cannot_be_retired(acme: Credentials) -> None:
    assert acme
    first, second = list_keys()
    retire(second.key.kid, now=True)
    with pytest.raises(Conflict, match="is the only one"):
        retire(first.key.kid, now=True)
    with pytest.raises(NotFound):
        retire("unknown", now=True)
    retire(second.key.kid)
    assert states() == ["signs", "retired"]


def test_waiting_key_signs_at_once_when_the_others_are_retired(acme: Credentials) -> None:
    first, second = list_keys()
    retire(second.key.kid, now=True)
    new = rotate()
    retire(first.key.kid, now=True)
    assert kid_of(token_of(acme)) == new.kid
    clear_caches_except_clients()
    assert published() == {new.kid}
    assert states() == ["retired", "retired", "signs"]


# Interruptions and concurrency


def in_use() -> list[SigningKey]:
    return [known.key for known in list_keys() if known.state != "retired"]


@pytest.mark.parametrize("moment", sampled("rotation", range(24), every=3))
def test_interrupted_rotation_can_be_repeated_and_adds_one_key(
    moment: int, aws_faults: AwsFaults
) -> None:
    before = in_use()
    is_killed = aws_faults.kills(kill_at(moment), rotate)
    assert is_killed or moment > 13, "the rotation was not interrupted"
    new = rotate()
    assert in_use() == [*before, new]
    assert not _has_unregistered_key()
    assert len(_enabled_keys()) == len({*_enabled_keys()}) >= 3
    assert in_use()[-1].kms_key in _enabled_keys()


def test_rotation_repeated_after_ten_minutes_of_signing_adds_another_key(
    aws_faults: AwsFaults, clock: MovableClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert aws_faults
    with monkeypatch.context() as dying:
        dying.setattr(signing_keys, "_clear_pending_key", lambda _key: None)
        first = rotate()
    assert _has_unregistered_key()
    clock.advance(1_190)
    with monkeypatch.context() as dying:
        dying.setattr(signing_keys, "_clear_pending_key", lambda _key: None)
        assert rotate() == first
    clock.advance(20)
    second = rotate()
    assert second != first
    assert in_use()[-2:] == [first, second]
    assert not _has_unregistered_key()


def _has_unregistered_key() -> bool:
    aliases = client("kms").list_aliases()["Aliases"]
    return any(alias["AliasName"] == "alias/stowage-signing-next" for alias in aliases)


def _enabled_keys() -> list[str]:
    kms = client("kms")
    found = [key["KeyId"] for key in kms.list_keys()["Keys"]]
    described = [kms.describe_key(KeyId=key)["KeyMetadata"] for key in found]
    return [
        key["KeyId"]
        for key in described
        if key["KeyUsage"] == "SIGN_VERIFY" and key["KeyState"] == "Enabled"
    ]


@pytest.mark.parametrize("moment", sampled("retirement of keys", range(14), every=3))
def test_interrupted_retirement_can_be_repeated(moment: int, aws_faults: AwsFaults) -> None:
    old = list_keys()[1].key
    if aws_faults.kills(kill_at(moment), lambda: retire(old.kid, now=True)):
        retire(old.kid, now=True)
    assert states() == ["signs", "retired"]
    assert old.kms_key not in _enabled_keys()


@pytest.mark.parametrize("at", sampled("two rotations", range(20), every=3))
def test_two_concurrent_rotations_add_one_key(
    at: int, aws_faults: AwsFaults, clock: MovableClock
) -> None:
    """A complete second rotation runs at each point of the first."""
    before = in_use()
    with aws_faults.faulty(stuck_at(at, rotate)), suppress(Conflict):
        rotate()
    (new,) = in_use()[len(before) :]
    # a key that was created too late is kept for the next rotation
    assert len(_enabled_keys()) == len(before) + 1 + _has_unregistered_key()
    assert new.kms_key in _enabled_keys()
    clock.advance(1_300)
    rotate()
    assert not _has_unregistered_key()
    assert set(_enabled_keys()) == {key.kms_key for key in in_use()}
    assert len(in_use()) == len(before) + 2


# Choice of the signing key


@pytest.mark.parametrize(
    ("keys", "now", "signer"),
    [
        ([("a", 0, None), ("b", 0, None)], 50, "a"),
        ([("a", 0, None), ("b", 100, None)], 99, "a"),
        ([("a", 0, None), ("b", 100, None)], 100, "b"),
        ([("a", 0, None), ("b", 100, 90)], 200, "a"),
        ([("a", 0, 50), ("b", 100, None), ("c", 120, None)], 60, "b"),
        ([("a", 0, None), ("b", 100, None), ("c", 90, None)], 110, "b"),
    ],
)
def test_latest_started_key_in_use_signs(
    keys: list[tuple[str, int, int | None]], now: int, signer: str
) -> None:
    ring = SigningKeys(tuple(SigningKey(*key) for key in keys))
    assert ring.signing_key(now).kms_key == signer

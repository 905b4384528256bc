"""Signing keys change while tokens are issued and verified, and nobody notices."""

import json
import time
from contextlib import suppress

import pytest

from functions.authorizer.app import lambda_handler as authorize
from operations import signing_keys
from operations.provisioning import Credentials
from operations.signing_keys import KnownKey, list_keys, retire, rotate
from shared.identity.auth import signing, tokens
from shared.identity.auth.keys import SEARCHED_AGAIN, Key, KeyRing, Keys, key_ring
from shared.identity.auth.tokens import LIFETIME
from shared.kernel.aws import client
from shared.kernel.config import config
from shared.kernel.errors import Conflict, NotFound
from tests.integration.auth.test_authorizer import ARN
from tests.integration.auth.test_oauth import ask, grant, send
from tests.integration.control_plane import Killed, Wire, forget_everything, killer


class Time:
    """The clock of the service, which the test moves."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._ahead = 0.0
        now, monotonic = time.time, time.monotonic
        monkeypatch.setattr(time, "time", lambda: now() + self._ahead)
        monkeypatch.setattr(key_ring, "_clock", lambda: monotonic() + self._ahead)

    def pass_by(self, seconds: float) -> None:
        self._ahead += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Time:
    return Time(monkeypatch)


def token_of(client: Credentials) -> str:
    """Ask for a token as an environment that has its keys from the item it just read."""
    token: str = ask(grant(client))[2]["access_token"]
    return token


def kid_of(token: str) -> str:
    kid: str = tokens._json(token.split(".", maxsplit=1)[0])["kid"]
    return kid


def passes(token: str) -> bool:
    headers = {"authorization": f"Bearer {token}", "host": "api.stowage.test"}
    try:
        authorize({"headers": headers, "methodArn": ARN}, None)
    except Exception as error:  # noqa: BLE001  the gateway's convention has no type of its own
        assert str(error) == "Unauthorized"  # noqa: PT017  whatever else it is, is a fault
        return False
    return True


def states() -> list[str]:
    return [known.state for known in list_keys()]


def signing_now() -> KnownKey:
    (one,) = (known for known in list_keys() if known.state == "signs")
    return one


def published() -> set[str]:
    _, _, keys = send("GET", "/v1/.well-known/jwks.json")
    return {key["kid"] for key in keys["keys"]}


def test_before_the_first_rotation_the_deployments_keys_are_in_use(acme: Credentials) -> None:
    assert [known.key.kms_key for known in list_keys()] == list(config().signing_keys)
    assert states() == ["signs", "verifies"]
    assert kid_of(token_of(acme)) == signing.kid_of(config().signing_keys[0])


def test_no_token_ends_by_a_rotation(acme: Credentials, clock: Time) -> None:
    old = token_of(acme)
    assert passes(old)
    new_key = rotate()
    assert states() == ["signs", "verifies", "waits"]
    # every environment has to know it, and KMS has to let it be used, before a token bears it
    assert kid_of(token_of(acme)) == kid_of(old)
    assert new_key.kid not in published()
    clock.pass_by(310)
    assert new_key.kid in published()
    assert kid_of(token_of(acme)) == kid_of(old)
    clock.pass_by(300)
    new = token_of(acme)
    assert kid_of(new) == new_key.kid
    assert states() == ["verifies", "verifies", "signs"]
    assert passes(old)
    assert passes(new)


def test_an_authorizer_that_looked_just_before_knows_the_key_in_time(
    acme: Credentials, clock: Time
) -> None:
    other = KeyRing(clock=time.time)
    other.find("unknown")  # a stranger made it look, a moment before the key was published
    new_key = rotate()
    assert other.find(new_key.kid) is None
    clock.pass_by(new_key.signs_from - time.time())
    assert other.find(new_key.kid) == new_key
    assert acme


def test_unknown_keys_cost_one_read_in_ten_seconds(
    acme: Credentials, aws_faults: Wire, clock: Time
) -> None:
    good = token_of(acme)
    assert passes(good)
    header, rest = json.dumps({"alg": "ES256", "typ": "at+jwt", "kid": "KID"}), good.split(".")[1:]

    def forged(number: int) -> str:
        kid = header.replace("KID", f"random{number}").encode()
        return ".".join([signing.base64url(kid), *rest])

    clock.pass_by(SEARCHED_AGAIN + 1)
    with aws_faults.recorded() as calls:
        assert not any(passes(forged(number)) for number in range(50))
    assert calls == ["GetItem"]
    with aws_faults.recorded() as calls:
        assert passes(good)
    assert calls == []
    clock.pass_by(SEARCHED_AGAIN + 1)
    with aws_faults.recorded() as calls:
        assert not passes(forged(1))
        assert not passes(forged(2))
    assert calls == ["GetItem"]


def test_a_known_key_is_kept_for_minutes(acme: Credentials, aws_faults: Wire, clock: Time) -> None:
    token = token_of(acme)
    assert passes(token)
    clock.pass_by(290)
    with aws_faults.recorded() as calls:
        assert passes(token)
    assert "GetPublicKey" not in calls
    assert calls.count("GetItem") == 0
    clock.pass_by(20)
    with aws_faults.recorded() as calls:
        assert passes(token)
    assert calls == ["GetItem"], "the keys, and no public key anew"


def test_issuing_costs_no_call_for_the_keys(acme: Credentials, aws_faults: Wire) -> None:
    rotate()
    token_of(acme)
    with aws_faults.recorded() as calls:
        token_of(acme)
    assert calls == ["BatchGetItem", "GenerateMac", "Sign"]


# Retiring


def test_a_key_is_retired_when_its_last_token_has_expired(acme: Credentials, clock: Time) -> None:
    first = signing_now().key
    with pytest.raises(Conflict, match="signs tokens"):
        retire(first.kid)
    new = rotate()
    with pytest.raises(Conflict, match="signs tokens"):
        retire(first.kid)
    clock.pass_by(610)
    last = token_of(acme)
    assert kid_of(last) == new.kid
    with pytest.raises(Conflict, match="may be valid until"):
        retire(first.kid)
    clock.pass_by(LIFETIME + 30)
    with pytest.raises(Conflict, match="may be valid until"):
        retire(first.kid)
    clock.pass_by(50)
    assert retire(first.kid).retired_at
    assert states() == ["retired", "verifies", "signs"]
    assert first.kid not in published()
    key = client("kms").describe_key(KeyId=first.kms_key)["KeyMetadata"]
    assert key["KeyState"] == "PendingDeletion"


def test_a_key_that_still_waits_has_signed_nothing(acme: Credentials) -> None:
    assert acme
    before = int(time.time())
    new = rotate()
    (waiting,) = (known for known in list_keys() if known.key == new)
    assert waiting.state == "waits"
    assert waiting.retires_from
    assert before <= waiting.retires_from <= time.time()
    retire(new.kid)
    assert states()[-1] == "retired"


def test_after_a_leak_a_key_is_retired_at_once(acme: Credentials, clock: Time) -> None:
    leaked, token = signing_now().key, token_of(acme)
    assert passes(token)
    new = rotate()
    retire(leaked.kid, now=True)
    # an authorizer that knew the key looks again within minutes
    clock.pass_by(301)
    assert not passes(token)
    assert leaked.kid not in published()
    # of those that are left, one signs without a gap
    fresh = token_of(acme)
    assert kid_of(fresh) != leaked.kid
    assert passes(fresh)
    clock.pass_by(610)
    assert kid_of(token_of(acme)) == new.kid
    assert not passes(token)


def test_the_only_key_is_never_retired(acme: Credentials) -> None:
    assert acme
    first, second = list_keys()
    retire(second.key.kid, now=True)
    with pytest.raises(Conflict, match="is the only one"):
        retire(first.key.kid, now=True)
    with pytest.raises(NotFound):
        retire("unknown", now=True)
    retire(second.key.kid)
    assert states() == ["signs", "retired"]


def test_where_the_next_key_still_waits_it_signs_at_once(acme: Credentials) -> None:
    first, second = list_keys()
    retire(second.key.kid, now=True)
    new = rotate()
    retire(first.key.kid, now=True)
    assert kid_of(token_of(acme)) == new.kid
    forget_everything()
    assert published() == {new.kid}
    assert states() == ["retired", "retired", "signs"]


# Cut off, and at once


def in_use() -> list[Key]:
    return [known.key for known in list_keys() if known.state != "retired"]


@pytest.mark.parametrize("moment", range(24))
def test_a_rotation_that_was_cut_off_ends_with_one_new_key(moment: int, aws_faults: Wire) -> None:
    before = in_use()
    try:
        with aws_faults.hooked(killer(moment)):
            rotate()
    except Killed:
        new = rotate()
    else:
        assert moment > 13, "nothing was cut off"
        new = rotate()
    assert in_use() == [*before, new]
    assert not _in_hand()
    assert len(_usable()) == len({*_usable()}) >= 3
    assert in_use()[-1].kms_key in _usable()


def test_when_the_key_has_signed_for_ten_minutes_it_is_another_rotation(
    aws_faults: Wire, clock: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert aws_faults
    with monkeypatch.context() as dying:
        dying.setattr(signing_keys, "_clear_pending_key", lambda _key: None)
        first = rotate()
    assert _in_hand()
    clock.pass_by(1_190)
    with monkeypatch.context() as dying:
        dying.setattr(signing_keys, "_clear_pending_key", lambda _key: None)
        assert rotate() == first
    clock.pass_by(20)
    second = rotate()
    assert second != first
    assert in_use()[-2:] == [first, second]
    assert not _in_hand()


def _in_hand() -> bool:
    aliases = client("kms").list_aliases()["Aliases"]
    return any(alias["AliasName"] == "alias/stowage-signing-next" for alias in aliases)


def _usable() -> list[str]:
    kms = client("kms")
    found = [key["KeyId"] for key in kms.list_keys()["Keys"]]
    described = [kms.describe_key(KeyId=key)["KeyMetadata"] for key in found]
    return [
        key["KeyId"]
        for key in described
        if key["KeyUsage"] == "SIGN_VERIFY" and key["KeyState"] == "Enabled"
    ]


@pytest.mark.parametrize("moment", range(14))
def test_a_retirement_that_was_cut_off_can_be_repeated(moment: int, aws_faults: Wire) -> None:
    old = list_keys()[1].key
    try:
        with aws_faults.hooked(killer(moment)):
            retire(old.kid, now=True)
    except Killed:
        retire(old.kid, now=True)
    assert states() == ["signs", "retired"]
    assert old.kms_key not in _usable()


@pytest.mark.parametrize("at", range(20))
def test_of_two_rotations_at_once_one_makes_the_key(at: int, aws_faults: Wire, clock: Time) -> None:
    """At each moment of the one, another runs from beginning to end."""
    before, moments = in_use(), iter(range(1_000))

    def meanwhile(_moment: str, _operation: str) -> None:
        if next(moments) == at:
            rotate()

    with aws_faults.hooked(meanwhile), suppress(Conflict):
        rotate()
    (new,) = in_use()[len(before) :]
    # a key that came too late is in hand for the next time
    assert len(_usable()) == len(before) + 1 + _in_hand()
    assert new.kms_key in _usable()
    clock.pass_by(1_300)
    rotate()
    assert not _in_hand()
    assert set(_usable()) == {key.kms_key for key in in_use()}
    assert len(in_use()) == len(before) + 2


# Which one signs


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
def test_the_signer(keys: list[tuple[str, int, int | None]], now: int, signer: str) -> None:
    ring = Keys(tuple(Key(*key) for key in keys))
    assert ring.signer(now).kms_key == signer

"""The short cuts through moto answer as moto does, and leave the same behind."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache
from typing import Any

import botocore.session
import pytest
from botocore.exceptions import ClientError, NoCredentialsError, ParamValidationError
from botocore.session import Session
from moto import mock_aws
from moto.dynamodb.models import dynamodb_backends

from tests import quick_moto
from tests.integration.moto_questions import ODD, SHED, WRONG, YARD, Questions
from tests.quick_moto import Snapshot
from tests.stack import ACCOUNT, REGION

_CALLS = 200
SEEDS = range(4)


@dataclass(frozen=True, slots=True)
class Moto:
    """Two empty tables on moto, and whoever asks about them."""

    client: Any
    sent: list[object] = field(default_factory=list)
    """What has gone out: address, operation, body."""

    def ask(self, operation: str, arguments: Any) -> Any:
        """What the caller is told, whatever it is."""
        try:
            answer = getattr(self.client, operation)(**arguments)
        except ClientError as error:
            answer = error.response
        except Exception as error:  # noqa: BLE001 - a fault of moto's, which must be the same
            return type(error).__name__, str(error)
        status = answer["ResponseMetadata"]["HTTPStatusCode"]
        told = {name: value for name, value in answer.items() if name != "ResponseMetadata"}
        return status, _plain(told)

    def note(self, request: Any, **_: object) -> None:
        """Note what goes out."""
        target = request.headers["X-Amz-Target"]
        self.sent.append((request.url, target, json.loads(request.body)))


@cache
def _session() -> Session:
    return botocore.session.get_session()


@contextmanager
def _moto(*, quick: bool) -> Iterator[Moto]:
    with pytest.MonkeyPatch.context() as patch:
        if quick:
            quick_moto.install(patch)
        with mock_aws():
            moto = Moto(_session().create_client("dynamodb", region_name=REGION))
            moto.client.meta.events.register_first("before-send", moto.note)
            for table in (YARD, SHED):
                moto.client.create_table(**table)
            yield moto


def _plain(told: Any) -> Any:
    """Leave open what DynamoDB does: the order of a set, and how a number is written."""
    match told:
        case {"N": str(number)}:
            return Decimal(number)
        case {"NS": list(numbers)}:
            return {Decimal(number) for number in numbers}
        case {"SS": list(members)} | {"BS": list(members)}:
            return set(members)
        case dict():
            return {name: _plain(value) for name, value in told.items()}
        case list():
            return [_plain(value) for value in told]
        case _:
            return told


def _stored() -> object:
    """What the tables hold."""
    return {
        name: [(_plain(item.to_json()["Attributes"]), item.size()) for item in table.all_items()]
        for name, table in dynamodb_backends[ACCOUNT][REGION].tables.items()
    }


type _Step = tuple[str, Any, object]
"""Operation, what was told, and what is stored then."""


@cache
def _story(seed: int, *, quick: bool) -> tuple[list[_Step], list[object]]:
    """Ask many questions; what happened, and what has gone out."""
    questions = Questions(seed)
    with _moto(quick=quick) as moto:
        calls = (questions.call() for _ in range(_CALLS))
        return [(call[0], moto.ask(*call), _stored()) for call in calls], moto.sent


@pytest.mark.parametrize("seed", SEEDS)
def test_every_call_is_answered_as_moto_answers_it(seed: int) -> None:
    quick, quickly_sent = _story(seed, quick=True)
    plain, sent = _story(seed, quick=False)

    assert quickly_sent == sent
    for quick_step, plain_step in zip(quick, plain, strict=True):
        assert quick_step == plain_step


def test_calls_of_every_kind_succeed_and_fail() -> None:
    steps = [step for seed in SEEDS for step in _story(seed, quick=True)[0]]
    succeeded = {operation for operation, told, _ in steps if told[0] == 200}
    failed = {operation for operation, told, _ in steps if told[0] != 200}
    assert succeeded == {
        "batch_get_item", "delete_item", "get_item", "put_item", "query", "scan",
        "transact_write_items", "update_item",
    }  # fmt: skip
    assert failed == succeeded - {"scan"}


@pytest.mark.parametrize("wrong", WRONG)
def test_botocore_refuses_what_is_no_item(wrong: object) -> None:
    refusals = []
    for quick in (True, False):
        with _moto(quick=quick) as moto:
            with pytest.raises(ParamValidationError) as refused:
                moto.client.put_item(TableName="yard", Item=wrong)
            refusals.append(str(refused.value))
    assert refusals[0] == refusals[1]


@pytest.mark.parametrize("odd", ODD)
def test_odd_values_go_out_as_botocore_writes_them(odd: object) -> None:
    sent = []
    for quick in (True, False):
        with _moto(quick=quick) as moto:
            moto.ask("put_item", {"TableName": "shed", "Item": {"PK": {"S": "a"}, "odd": odd}})
            sent.append(moto.sent[-1])
    assert sent[0] == sent[1]


@pytest.mark.parametrize("quick", [True, False])
def test_nobody_calls_without_credentials(quick: bool) -> None:  # noqa: FBT001
    with _moto(quick=quick) as moto:
        moto.client._request_signer._credentials = None
        with pytest.raises(NoCredentialsError):
            moto.client.scan(TableName="yard")


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_kept_stays_as_it_was(seed: int) -> None:
    questions = Questions(seed)
    with _moto(quick=True) as moto:
        _ask(moto, questions)
        before, kept = _stored(), Snapshot.take(ACCOUNT, REGION)
        assert kept.is_now()
        for _ in range(2):
            _ask(moto, questions)
            assert _stored() != before
            assert not kept.is_now()
            kept.put_back()
            assert _stored() == before
            assert kept.is_now()


def _ask(moto: Moto, questions: Questions) -> None:
    for _ in range(_CALLS):
        moto.ask(*questions.call())


@pytest.mark.parametrize("table", ["yard", "shed"])
def test_what_is_looked_at_is_what_a_scan_shows(table: str) -> None:
    questions = Questions(0)
    with _moto(quick=True) as moto:
        for _ in range(_CALLS // 5):
            for _ in range(5):
                moto.ask(*questions.call())
            _, scanned = moto.ask("scan", {"TableName": table})
            seen = [_plain(item) for item in quick_moto.stored(ACCOUNT, REGION, table)]
            assert sorted(seen, key=repr) == sorted(scanned["Items"], key=repr)
        assert seen

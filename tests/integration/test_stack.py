"""Tests that share AWS clients and prepared stacks do not affect each other."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from itertools import count

import pytest

from shared.kernel import aws
from shared.kernel.config import config
from tests.clock import Clock
from tests.faults import AwsFaults, throttle
from tests.gateway import Erp
from tests.stack import Stack, deployed, prepare_once
from tests.warehouse_scenario import WarehouseScenario

type Deploy = Callable[[], AbstractContextManager[Stack]]

_NAMES = count()
_FOR_EVER = 1_000_000


@pytest.fixture
def another() -> Deploy:
    """Return a function that deploys a stack, as another test would."""

    @contextmanager
    def deploy() -> Iterator[Stack]:
        with pytest.MonkeyPatch.context() as patch, deployed(patch) as stack:
            yield stack

    return deploy


@pytest.fixture
def name() -> str:
    """A name of a preparation that no other test uses."""
    return f"stack {next(_NAMES)}"


def _retries_throttled_call(aws_faults: AwsFaults) -> bool:
    """Return whether a call that is throttled once is retried."""
    client = aws.client("dynamodb")
    with aws_faults.recorded() as seen, aws_faults.faulty(throttle(at=0)):
        try:
            client.describe_table(TableName=config().control_table)
        except client.exceptions.ClientError:
            return False
    assert len(seen.calls) == 2
    return True


def test_each_test_starts_with_the_full_retry_quota(
    another: Deploy, aws_faults: AwsFaults, clock: Clock
) -> None:
    assert clock
    with another():
        client = aws.client("dynamodb")
        assert _retries_throttled_call(aws_faults)
        with aws_faults.faulty(throttle(at=0, times=_FOR_EVER)):
            for _ in range(100):
                with pytest.raises(client.exceptions.ClientError):
                    client.describe_table(TableName=config().control_table)
        assert not _retries_throttled_call(aws_faults)
    with another():
        assert aws.client("dynamodb") is client
        assert _retries_throttled_call(aws_faults)


def test_data_of_another_test_is_removed(another: Deploy) -> None:
    with another() as stack:
        before = (stack.items(), stack.events())
        erp = stack.erp()
        WarehouseScenario.with_master_data(erp, "YARD")
        assert erp.get("/products").data
        assert (stack.items(), stack.events()) != before
    with another() as stack:
        assert (stack.items(), stack.events()) == before


def test_restored_preparation_equals_a_new_one(
    another: Deploy, aws_faults: AwsFaults, name: str
) -> None:
    def look(stack: Stack, prepare: Callable[[Erp], None]) -> object:
        """Return all data, and the calls of a request in the prepared environment."""
        erp = stack.erp()
        prepare_once(erp, name, lambda: prepare(erp))
        items, events = stack.items(), stack.events()
        with aws_faults.recorded() as seen:
            assert erp.post("/products", {"item_code": "SAND", "name": "Sand"}).status == 201
        return items, events, seen.operations

    def create(erp: Erp) -> None:
        for code in ("BRICK", "CEMENT"):
            assert erp.post("/products", {"item_code": code, "name": code.title()}).status == 201

    def fail(_: Erp) -> None:
        pytest.fail("the preparation must be restored, not repeated")

    with another() as stack:
        prepared = look(stack, create)
    for _ in range(2):
        with another() as stack:
            assert look(stack, fail) == prepared


@pytest.mark.parametrize("before", [{"name": "Yard", "whs_code": "YARD"}, None])
def test_preparation_is_restored_only_into_an_unchanged_stack(
    before: object, another: Deploy, name: str
) -> None:
    prepared: list[str] = []
    for _ in range(2):
        with another() as stack:
            erp = stack.erp()
            if before:
                assert erp.post("/warehouses", before).status == 201
            prepare_once(erp, name, lambda: prepared.append(name))
            assert len(erp.get("/warehouses").data) == (1 if before else 0)
    assert len(prepared) == (2 if before else 1)


@pytest.mark.parametrize("where", ["bucket", "queue"])
def test_preparation_with_files_or_messages_is_repeated(
    where: str, another: Deploy, name: str
) -> None:
    def prepare() -> None:
        if where == "bucket":
            aws.client("s3").put_object(Bucket=config().import_bucket, Key="acme/a", Body=b"a")
        else:
            aws.client("sqs").send_message(QueueUrl=config().import_queue, MessageBody="a")
        prepared.append(where)

    prepared: list[str] = []
    for _ in range(2):
        with another() as stack:
            prepare_once(stack.erp(), name, prepare)
    assert len(prepared) == 2


def test_preparation_belongs_to_one_tenant(another: Deploy, name: str) -> None:
    for slug in ("acme", "beta"):
        with another() as stack:
            erp = stack.erp(slug)
            prepare_once(erp, name, partial(erp.post, "/products", {"item_code": "A", "name": "A"}))
            assert len(erp.get("/products").data) == 1
            assert not stack.events("beta" if slug == "acme" else "acme")

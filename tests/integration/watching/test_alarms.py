"""Every alarm: the situation that it reports moves its metric.

Own metrics are read from the log as CloudWatch reads them. Metrics of AWS are counted by AWS; a
test then shows that the code ends in the situation that AWS counts, and that the dimensions of the
alarm name the resource that is in it. `PROVED` names the tests; an alarm without one fails.
"""

import json
import re
from base64 import b64encode
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from botocore.exceptions import ClientError
from moto.events.models import EventPattern

from functions.canary import app as canary
from functions.expired_stock.app import ExpiredStockLeft
from operations.api_clients import create_client
from shared.http import api_handler
from shared.http.api_handler import _RESERVE_MS
from shared.identity.auth import attempt_limits
from shared.identity.auth.attempt_limits import (
    LONG_WINDOW,
    PER_ADDRESS,
    PER_CLIENT,
    WINDOW,
)
from shared.identity.users import code_checks
from shared.kernel import aws
from shared.kernel.clock import now_ms
from shared.kernel.config import config
from shared.kernel.queue import MAX_DELAY_SECONDS
from tests import gateway
from tests.cases import each_case
from tests.clock import Clock, ManualClock
from tests.expired_stock_run import RUN, RUN_MS, run_expired_stock
from tests.faults import Answer, AwsFaults, Call, Forward, refuse_calls, throttle
from tests.gateway import LambdaContext
from tests.import_scenario import ImportScenario
from tests.integration.user_grants.oauth_requests import (
    create_example_user,
    enable_two_step,
    guess,
    request_token,
)
from tests.integration.watching.activity import FUNCTIONS, PRODUCTS, run_activity
from tests.integration.watching.operator_alarms import (
    ALARMS,
    FUNCTIONS_OF_TEMPLATE,
    TEMPLATE,
    dimensions,
    is_breached,
    stage,
    values,
)
from tests.integration.watching.queues import consumed_queues, receive_until_dead, redrive, visible
from tests.log_lines import captured
from tests.stack import NAME, REGION, Stack, _clear_stack_caches, set_attributes
from tests.template import Template
from tests.watched_metrics import is_documented
from tests.webhook_scenario import (
    WORKER,
    WebhookScenario,
    respond_204,
    respond_500,
    run_relay,
)

PROVED: dict[str, str] = {}
"""Alarm → the test that moves its metric."""


def moves[F: Callable[..., None]](*alarms: str) -> Callable[[F], F]:
    """Record that a test moves the metrics of these alarms."""

    def record(test: F) -> F:
        PROVED.update(dict.fromkeys(alarms, test.__name__))
        return test

    return record


# Requests


@moves("ApiFailuresAlarm")
@pytest.mark.parametrize("operation", ["Query", "GetPublicKey"])
def test_failure_of_a_function_or_the_authorizer_is_a_5xx_response(
    operation: str, stack: Stack, aws_faults: AwsFaults
) -> None:
    """API Gateway counts the statuses of its responses; no emulator writes its metrics."""
    assert dimensions("ApiFailuresAlarm") == stage()
    erp = stack.erp()
    _clear_stack_caches()
    with aws_faults.faulty(refuse_calls(operation)):
        assert erp.get("/products").status >= 500
    assert erp.get("/products").status == 200


@moves("ApiLatencyAlarm")
def test_slow_database_makes_requests_slow(
    stack: Stack, aws_faults: AwsFaults, monkeypatch: pytest.MonkeyPatch
) -> None:
    """API Gateway measures at least the time of the function, which its log line has."""
    assert dimensions("ApiLatencyAlarm") == stage()
    clock = ManualClock()
    monkeypatch.setattr(api_handler, "perf_counter", clock)
    erp = stack.erp()

    def take_700_ms(_call: Call, forward: Forward) -> Answer:
        clock.now += 0.7
        return forward()

    with captured() as written:
        erp.get("/products")
        with aws_faults.faulty(take_700_ms), aws_faults.recorded() as slow:
            erp.get("/products")
    assert slow.calls
    assert [line["milliseconds"] for line in written.lines("answered")] == [
        0,
        pytest.approx(700 * len(slow.calls)),
    ]
    threshold = ALARMS["ApiLatencyAlarm"]["Threshold"]
    # A request that meets a stuck call of AWS still ends below the limit of the gateway.
    assert threshold < stack.gateway.remaining_ms - _RESERVE_MS


@moves("FunctionThrottlesAlarm")
def test_throttles_of_all_functions_are_watched_together() -> None:
    """Lambda counts refused invocations; no emulator limits concurrent executions.

    The limit is that of the account, so that the alarm has no dimension.
    """
    assert dimensions("FunctionThrottlesAlarm") == {}
    assert ALARMS["FunctionThrottlesAlarm"]["MetricName"] == "Throttles"
    assert is_breached("FunctionThrottlesAlarm", [1])


@moves("StorageThrottlesAlarm")
def test_throttled_calls_of_dynamodb_are_counted(
    stack: Stack, aws_faults: AwsFaults, clock: Clock
) -> None:
    assert clock  # botocore waits between its attempts
    erp = stack.erp()
    erp.get("/products")
    with captured() as written:
        for _ in range(10):
            with aws_faults.faulty(throttle(0, 2)):
                assert erp.get("/products").status == 200
    assert not is_breached("StorageThrottlesAlarm", values("StorageThrottlesAlarm", written))
    with captured() as written:
        for _ in range(10):
            with aws_faults.faulty(throttle(0, 9)):
                erp.get("/products")
    assert is_breached("StorageThrottlesAlarm", values("StorageThrottlesAlarm", written))


@moves("UnservedTablesAlarm")
def test_request_for_a_table_that_is_not_served_is_counted(stack: Stack) -> None:
    with captured() as written:
        assert stack.erp().get("/products").status == 200
        assert not is_breached("UnservedTablesAlarm", values("UnservedTablesAlarm", written))
        set_attributes(table_version={"N": "99"})
        _clear_stack_caches()
        assert stack.erp().get("/products").status == 503
    assert is_breached("UnservedTablesAlarm", values("UnservedTablesAlarm", written))


@moves("WrongCodesAlarm")
def test_user_whose_codes_are_refused_is_counted_once(
    stack: Stack, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert stack
    clock.freeze()
    monkeypatch.setattr(code_checks, "MOST", 3)
    user = create_example_user()
    enable_two_step(user)
    with captured() as written:
        for _ in range(2):
            user.sign_in(otp="000000")
        assert not is_breached("WrongCodesAlarm", values("WrongCodesAlarm", written))
        for _ in range(3):
            user.sign_in(otp="000000")
    assert values("WrongCodesAlarm", written) == [1]
    assert is_breached("WrongCodesAlarm", values("WrongCodesAlarm", written))


@moves("InvalidGrantsAlarm", "InvalidClientsAlarm")
@pytest.mark.parametrize(
    ("alarm", "refused"),
    [
        ("InvalidGrantsAlarm", {"grant_type": "refresh_token", "refresh_token": "x"}),
        ("InvalidGrantsAlarm", {"grant_type": "password", "username": "a@acme", "password": "x"}),
        (
            "InvalidClientsAlarm",
            {"grant_type": "client_credentials", "client_id": "x", "client_secret": "x"},
        ),
    ],
)
def test_refused_credentials_are_counted_by_the_function_of_the_alarm(
    alarm: str, refused: Mapping[str, str], stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert stack
    function = dimensions(alarm)["function"]
    assert FUNCTIONS_OF_TEMPLATE[function]["Handler"] == "functions.oauth.app.lambda_handler"
    monkeypatch.setenv("AWS_LAMBDA_FUNCTION_NAME", function)
    with captured() as written:
        assert request_token(refused).status in {400, 401}
    assert values(alarm, written) == [1]
    others = {"InvalidGrantsAlarm", "InvalidClientsAlarm"} - {alarm}
    assert [values(other, written) for other in others] == [[]]


@pytest.mark.parametrize("alarm", ["InvalidGrantsAlarm", "InvalidClientsAlarm"])
def test_one_address_that_guesses_as_fast_as_it_may_raises_the_alarm(alarm: str) -> None:
    """A client that repeats a wrong secret for ever does not."""
    minutes = ALARMS[alarm]["Period"] / WINDOW
    assert is_breached(alarm, [PER_ADDRESS] * int(minutes))
    assert not is_breached(alarm, [PER_CLIENT] * int(minutes))


@moves("LockOutsAlarm")
def test_users_who_are_refused_at_an_address_are_counted_once(
    stack: Stack, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert stack
    clock.freeze()
    monkeypatch.setattr(attempt_limits, "PER_USER_LONG_WINDOW", 2)
    alarm = ALARMS["LockOutsAlarm"]
    assert alarm["Period"] == LONG_WINDOW
    with captured() as written:
        for number in range(alarm["Threshold"]):
            form = {"grant_type": "password", "username": f"u{number}@acme", "password": "x"}
            assert [request_token(form).status for _ in range(4)] == [400, 400, 429, 429]
    assert values("LockOutsAlarm", written) == [1] * alarm["Threshold"]
    assert values("LockOutsEverywhereAlarm", written) == []
    assert not is_breached("LockOutsAlarm", values("LockOutsAlarm", written))
    assert is_breached("LockOutsAlarm", [*values("LockOutsAlarm", written), 1])


@moves("LockOutsEverywhereAlarm")
def test_user_who_is_guessed_from_many_addresses_is_counted_once(
    stack: Stack, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert stack
    clock.freeze()
    monkeypatch.setattr(attempt_limits, "PER_USER_ALL_ADDRESSES", 3)
    user = create_example_user()
    with captured() as written:
        assert user.sign_in().status == 200, "its address is known"
        for _ in range(4):
            guess(user)
        assert not is_breached(
            "LockOutsEverywhereAlarm", values("LockOutsEverywhereAlarm", written)
        )
        for number in range(6):
            guess(user, f"198.51.100.{number}")
        assert user.sign_in().status == 200, "others cannot lock the user out of a known address"
    assert values("LockOutsEverywhereAlarm", written) == [1]
    assert is_breached("LockOutsEverywhereAlarm", values("LockOutsEverywhereAlarm", written))


# Keys


def call_reported_by_cloudtrail(operation: str, source: str = "kms.amazonaws.com") -> str:
    """Return the event that EventBridge gets of a call, as the documentation of KMS shows it."""
    key = "arn:aws:kms:eu-west-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab"
    detail = {
        "eventVersion": "1.08",
        "userIdentity": {"type": "IAMUser", "arn": "arn:aws:iam::111122223333:user/Alice"},
        "eventSource": source,
        "eventName": operation,
        "requestParameters": {"keyId": key.rpartition("/")[2]},
        "resources": [{"accountId": "111122223333", "type": "AWS::KMS::Key", "ARN": key}],
        "eventType": "AwsApiCall",
    }
    event = {
        "id": "1", "version": "0", "account": "111122223333", "region": REGION,
        "time": "2026-11-28T10:00:00Z", "source": f"aws.{source.partition('.')[0]}",
        "detail-type": "AWS API Call via CloudTrail", "resources": [], "detail": detail,
    }  # fmt: skip
    return json.dumps(event)


@moves("KeyChangesAlarm")
def test_key_that_is_disabled_or_scheduled_for_deletion_is_in_the_queue_of_the_alarm(
    stack: Stack,
) -> None:
    """CloudTrail reports the calls; moto does not."""
    assert stack
    rule = TEMPLATE.resources("AWS::Events::Rule")["KeyChangesRule"]
    queue = dimensions("KeyChangesAlarm")["QueueName"]
    assert [target["Arn"] for target in rule["Targets"]] == [{"Fn::GetAtt": f"{queue}.Arn"}]
    pattern = EventPattern.load(json.dumps(rule["EventPattern"]))
    operations = aws.client("kms").meta.service_model.operation_names
    reported = {
        name
        for name in operations
        if pattern.matches_event(json.loads(call_reported_by_cloudtrail(name)))
    }
    assert reported == {"DisableKey", "ScheduleKeyDeletion"}
    assert set(rule["EventPattern"]["detail"]["eventName"]) == reported, "KMS has both operations"
    other = call_reported_by_cloudtrail("DisableKey", "other.amazonaws.com")
    assert not pattern.matches_event(json.loads(other))
    assert is_breached("KeyChangesAlarm", [1])


# Imports


@moves("ImportDeadLettersAlarm")
def test_import_message_that_fails_five_times_is_a_dead_letter(
    stack: Stack, aws_faults: AwsFaults
) -> None:
    imports = ImportScenario(stack)
    number = imports.upload("products", "goods.csv", PRODUCTS).data["id"]
    imports.take_messages()
    imports.send({"tenant": "acme", "import": number})
    letters = redrive("ImportQueue")
    assert letters == dimensions("ImportDeadLettersAlarm")["QueueName"]

    def deliver(body: str, receives: int) -> bool:
        with aws_faults.faulty(refuse_calls("GetItem")):
            return bool(imports.deliver(body, receives=receives))

    assert receive_until_dead("ImportQueue", deliver) == 5
    assert visible(letters) == 1
    assert is_breached("ImportDeadLettersAlarm", [visible(letters)])


@moves("ImportOldestMessageAlarm")
def test_import_waits_in_the_queue_of_the_alarm(stack: Stack) -> None:
    """SQS measures the age; moto has no metrics. The message is there until a worker takes it."""
    imports = ImportScenario(stack)
    imports.upload("products", "goods.csv", PRODUCTS)
    queue = dimensions("ImportOldestMessageAlarm")["QueueName"]
    assert queue == "ImportQueue"
    assert consumed_queues("ImportWorkerFunction") == {queue}
    assert visible(queue) >= 1
    imports.drain_queue()
    assert visible(queue) == 0


@moves("ImportLoopAlarm", "WebhookLoopAlarm")
@pytest.mark.parametrize(
    ("alarm", "function"),
    [("ImportLoopAlarm", "ImportWorkerFunction"), ("WebhookLoopAlarm", "WebhookWorkerFunction")],
)
def test_stopped_chains_are_watched_for_the_functions_that_send_to_themselves(
    alarm: str, function: str
) -> None:
    """Lambda counts the chains that it stops; no emulator has the detection.

    `tests/unit/test_recursive_loops.py` shows which functions send to their own queues.
    """
    assert dimensions(alarm) == {"FunctionName": function}
    assert FUNCTIONS_OF_TEMPLATE[function]["RecursiveLoop"] == "Allow"
    assert ALARMS[alarm]["MetricName"] == "RecursiveInvocationsDropped"
    assert is_breached(alarm, [1])


# Events and webhooks


def relay_event(webhooks: WebhookScenario) -> None:
    """Create a subscription, and queue the delivery of an event to it."""
    webhooks.subscribe()
    webhooks.create_product()
    webhooks.run_relay()


@moves("RelayDelayAlarm", "RelayFailuresAlarm")
def test_events_that_are_not_relayed_stay_in_the_stream_until_the_queue_gets_their_batch(
    webhooks: WebhookScenario, aws_faults: AwsFaults
) -> None:
    """Lambda measures the age of the records and sends discarded batches to the queue.

    No emulator does; the test shows that the relay reports the records, so that Lambda repeats
    them, and that the mapping of the stream sends what it gives up to the queue of the alarm.
    """
    webhooks.subscribe()
    webhooks.create_product()
    batch = webhooks.new_stream_batch()
    with aws_faults.faulty(refuse_calls("SendMessageBatch")):
        assert run_relay(batch) == ["2"], "the first record, of the subscription, has no event"
    assert run_relay(batch) == []
    assert dimensions("RelayDelayAlarm") == {"FunctionName": "EventRelayFunction"}
    stream = FUNCTIONS_OF_TEMPLATE["EventRelayFunction"]["Events"]["Outbox"]["Properties"]
    assert stream["Stream"] == {"Fn::GetAtt": "OutboxTable.StreamArn"}
    assert stream["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    failures = stream["DestinationConfig"]["OnFailure"]["Destination"]["Fn::GetAtt"]
    assert failures == f"{dimensions('RelayFailuresAlarm')['QueueName']}.Arn"
    assert is_breached("RelayFailuresAlarm", [1])


@moves("WebhookDelayAlarm")
@pytest.mark.parametrize(("late_seconds", "raised"), [(60, False), (301, True)])
def test_late_attempt_of_a_delivery_is_measured(
    late_seconds: int,
    raised: bool,  # noqa: FBT001
    webhooks: WebhookScenario,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    relay_event(webhooks)
    (task,) = webhooks.take_messages()
    webhooks.run_worker(task)
    (moved,) = webhooks.take_messages()
    monkeypatch.setenv("AWS_LAMBDA_FUNCTION_NAME", FUNCTIONS[WORKER])
    with captured() as written:
        webhooks.run_worker({**moved, "due": now_ms() - late_seconds * 1000})
    found = values("WebhookDelayAlarm", written)
    assert found == [pytest.approx(late_seconds * 1000, abs=2_000)]
    assert is_breached("WebhookDelayAlarm", found) == raised


@moves("WebhookOldestMessageAlarm", "WebhookSlowOldestMessageAlarm")
def test_deliveries_wait_in_the_queues_of_the_alarms(webhooks: WebhookScenario) -> None:
    """SQS measures the age; moto has no metrics. The message is there until a worker takes it."""
    quick = dimensions("WebhookOldestMessageAlarm")["QueueName"]
    slow = dimensions("WebhookSlowOldestMessageAlarm")["QueueName"]
    assert consumed_queues("WebhookWorkerFunction") == {quick, slow}
    relay_event(webhooks)
    assert (visible(quick), visible(slow)) == (1, 0)
    webhooks.run_worker(*webhooks.take_messages())  # the endpoint is new, so that it counts as slow
    assert (visible(quick), visible(slow)) == (0, 1)
    webhooks.run_worker(*webhooks.take_messages())
    assert (visible(quick), visible(slow)) == (0, 0)
    # A message may wait this long on purpose; later retries are schedules.
    assert ALARMS["WebhookOldestMessageAlarm"]["Threshold"] > MAX_DELAY_SECONDS


@moves("WebhookDeadLettersAlarm")
def test_delivery_that_cannot_be_processed_is_a_dead_letter(
    webhooks: WebhookScenario, aws_faults: AwsFaults
) -> None:
    relay_event(webhooks)
    letters = redrive("WebhookQueue")
    assert letters == dimensions("WebhookDeadLettersAlarm")["QueueName"]
    assert redrive("WebhookSlowQueue") == letters

    def deliver(body: str, receives: int) -> bool:
        with aws_faults.faulty(refuse_calls("BatchGetItem", "GetItem")):
            return bool(webhooks.run_worker(json.loads(body), receives=receives))

    assert receive_until_dead("WebhookQueue", deliver) == 20
    assert is_breached("WebhookDeadLettersAlarm", [visible(letters)])


@moves("WebhookSchedulesAlarm")
def test_late_retries_are_schedules_of_the_group_of_the_alarm(webhooks: WebhookScenario) -> None:
    """EventBridge Scheduler counts the calls of its schedules that fail; moto runs no schedules."""
    assert dimensions("WebhookSchedulesAlarm") == {"ScheduleGroup": "WebhookSchedules"}
    relay_event(webhooks)
    webhooks.endpoint = respond_500
    while not webhooks.schedules():
        for body in webhooks.take_messages():
            webhooks.run_worker({**body, "due": 0})
    assert config().webhook_schedules == f"{NAME}-WebhookSchedules"
    (schedule,) = webhooks.schedules().values()
    assert schedule.target["RoleArn"].endswith("WebhookScheduleRole")
    webhooks.endpoint = respond_204


# Canary


def run_canary(credentials: str) -> None:
    """Invoke the function of the canary, with the input of its schedule."""
    function = FUNCTIONS_OF_TEMPLATE["CanaryFunction"]
    schedule = function["Events"]["Regularly"]["Properties"]
    names = {"Canary": credentials, "Api": "api", "AWS::Region": REGION}
    template = Template(names | {"AWS::URLSuffix": "amazonaws.com"})
    event = json.loads(template.text(_input_of(schedule)))
    gateway._function(function["Handler"])(event, LambdaContext())


def _input_of(schedule: Mapping[str, Any], *, default_address: bool = True) -> dict[str, Any]:
    """Return the input of a schedule with its condition resolved."""
    text, variables = schedule["Input"]["Fn::Sub"]
    condition, default, domain = variables["Address"]["Fn::If"]
    assert condition == "HasDefaultAddress"
    return {"Fn::Sub": [text, {"Address": default if default_address else domain}]}


def test_canary_uses_the_host_of_its_tenant_where_the_default_address_is_off(
    responses: "_Responses",
) -> None:
    schedule = FUNCTIONS_OF_TEMPLATE["CanaryFunction"]["Events"]["Regularly"]["Properties"]
    names = {"Canary": responses.credentials, "DomainName": "example.com"}
    text = Template(names).text(_input_of(schedule, default_address=False))
    canary.lambda_handler(json.loads(text), LambdaContext())  # type: ignore[arg-type]
    assert responses.hosts == {"acme.example.com"}


def encrypted(credentials: str, purpose: str = "canary") -> str:
    """Return what an operator enters as the parameter of the stack."""
    answer = aws.client("kms").encrypt(
        KeyId=config().sealing_key,
        Plaintext=credentials.encode(),
        EncryptionContext={"purpose": purpose},
    )
    return b64encode(answer["CiphertextBlob"]).decode()


class _Responses:
    """The client of the canary, and HTTP to the gateway of the stack in this process."""

    def __init__(self, stack: Stack) -> None:
        self._gateway = stack.gateway
        self.hosts: set[str] = set()
        self.status = 0
        client_id, self.secret = create_client("acme", "Canary", frozenset({"products:read"}))
        self.credentials = encrypted(f"{client_id}:{self.secret}")

    def request(
        self, method: str, url: str, *, headers: Mapping[str, str], body: bytes | None, **_: Any
    ) -> Any:
        host, path = re.fullmatch(r"https://([^/]+)/api(/v1/.*)", url).groups()  # type: ignore[union-attr]
        self.hosts.add(host)
        answer = self._gateway.request(method, path, headers=headers, body=body)
        self.data, self.status = answer.text.encode(), self.status or answer.status
        return self


@pytest.fixture
def responses(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> _Responses:
    """The canary of a stack, with the credentials of a client that may read products."""
    responses = _Responses(stack)
    monkeypatch.setattr(canary, "_http", lambda: responses)
    return responses


def test_canary_ends_without_an_error_when_token_and_list_are_answered(
    responses: _Responses,
) -> None:
    assert responses.status == 0
    with captured() as written:
        run_canary(responses.credentials)
    (line,) = written.lines("canary passed")
    assert line["milliseconds"] >= 0
    assert len(written.lines("answered")) == 2


@moves("CanaryAlarm")
@pytest.mark.parametrize("status", [401, 429, 500, 503])
def test_canary_raises_when_a_request_fails(status: int, responses: _Responses) -> None:
    """Lambda counts an invocation that raises as an error, and EventBridge does not repeat it."""
    assert dimensions("CanaryAlarm") == {"FunctionName": "CanaryFunction"}
    assert ALARMS["CanaryAlarm"]["MetricName"] == "Errors"
    assert ALARMS["CanaryAlarm"]["TreatMissingData"] == "breaching"
    function = FUNCTIONS_OF_TEMPLATE["CanaryFunction"]
    assert function["EventInvokeConfig"] == {"MaximumRetryAttempts": 0}
    assert function["Events"]["Regularly"]["Properties"]["Schedule"] == "rate(5 minutes)"
    assert ALARMS["CanaryAlarm"]["Period"] == 300
    responses.status = status
    with pytest.raises(canary.CanaryFailed, match=f"POST /oauth/token: status {status}"):
        run_canary(responses.credentials)


def test_canary_raises_when_its_secret_does_not_work(responses: _Responses) -> None:
    client_id, _ = create_client("acme", "Other", frozenset({"products:read"}))
    with pytest.raises(canary.CanaryFailed, match="POST /oauth/token: status 401"):
        run_canary(encrypted(f"{client_id}:wrong"))
    assert responses.status == 401


def test_credentials_of_another_purpose_are_not_decrypted(responses: _Responses) -> None:
    with pytest.raises(ClientError, match="InvalidCiphertext"):
        run_canary(encrypted("x" * 100, purpose="signing"))
    assert responses.status == 0


def test_parameter_accepts_what_kms_returns(responses: _Responses) -> None:
    pattern = TEMPLATE.parameter("Canary")["AllowedPattern"]
    assert re.fullmatch(pattern, responses.credentials)
    assert re.fullmatch(pattern, "")
    assert not re.fullmatch(pattern, f"stw_acme_x:{responses.secret}")


def test_failure_of_the_canary_shows_no_secret(responses: _Responses) -> None:
    """Lambda writes the text of the exception to the log."""
    responses.status = 500
    with captured() as written, pytest.raises(canary.CanaryFailed) as failure:
        run_canary(responses.credentials)
    assert len(responses.secret) > 20
    assert responses.secret not in str(failure.value) + written.log.getvalue()


# Expired goods


@moves("ExpiredStockAlarm")
def test_run_that_blocks_expired_goods_raises_when_a_company_fails(
    stack: Stack, aws_faults: AwsFaults
) -> None:
    """Lambda counts an invocation that raises as an error, and repeats it twice.

    A company that failed once is completed by the repeated run, which counts no error.
    """
    assert stack
    assert dimensions("ExpiredStockAlarm") == {"FunctionName": "ExpiredStockFunction"}
    alarm, function = ALARMS["ExpiredStockAlarm"], FUNCTIONS_OF_TEMPLATE["ExpiredStockFunction"]
    assert (alarm["MetricName"], alarm["TreatMissingData"]) == ("Errors", "breaching")
    assert function["Events"]["Hourly"]["Properties"]["Schedule"] == "cron(0 * * * ? *)"
    assert (alarm["Period"], alarm["DatapointsToAlarm"]) == (3600, 2)
    assert function["Handler"] == RUN
    assert function["Timeout"] * 1000 == RUN_MS
    with aws_faults.faulty(refuse_calls("Query")), pytest.raises(ExpiredStockLeft):
        run_expired_stock()
    run_expired_stock()
    assert is_breached("ExpiredStockAlarm", [1])
    assert not is_breached("ExpiredStockAlarm", [0])


# All alarms


@each_case("name", ALARMS)
def test_every_alarm_has_a_test_that_moves_its_metric(name: str) -> None:
    assert PROVED[name] in globals()


@each_case("name", ALARMS)
def test_metrics_of_aws_are_documented(name: str) -> None:
    alarm = ALARMS[name]
    if alarm["Namespace"] != "Stowage":
        assert is_documented(alarm["Namespace"], alarm["MetricName"], dimensions(name))


def test_dashboard_and_alarms_show_own_metrics_that_functions_write(
    stack: Stack, clock: Clock, monkeypatch: pytest.MonkeyPatch, aws_faults: AwsFaults
) -> None:
    del clock
    written = run_activity(stack, monkeypatch, aws_faults).metrics()
    emitted = {
        (one["name"], tuple(sorted(one["dimensions"].items())))
        for one in written
        if one["namespace"] == "Stowage"
    }
    elsewhere = {
        _metric_of(alarm)
        for alarm in (
            "InvalidClientsAlarm", "InvalidGrantsAlarm", "LockOutsAlarm",
            "LockOutsEverywhereAlarm", "UnservedTablesAlarm", "WrongCodesAlarm",
        )
    }  # fmt: skip
    assert _own_metrics() - elsewhere <= emitted


def _own_metrics() -> set[tuple[str, tuple[tuple[str, str], ...]]]:
    """Return name and dimensions of the own metrics of dashboard and alarms."""
    (dashboard,) = TEMPLATE.resources("AWS::CloudWatch::Dashboard").values()
    text = dashboard["DashboardBody"]["Fn::Sub"][0].replace("${AWS::StackName}", NAME)
    rows = [
        [cell for cell in row if isinstance(cell, str)]
        for widget in json.loads(text)["widgets"]
        for row in widget["properties"].get("metrics", ())
        if row[0] == "Stowage"
    ]
    shown = {
        (name, tuple(sorted(zip(pairs[::2], map(_logical_id, pairs[1::2]), strict=True))))
        for _, name, *pairs in rows
    }
    watched = {
        (alarm["MetricName"], tuple(sorted(dimensions(name).items())))
        for name, alarm in ALARMS.items()
        if alarm["Namespace"] == "Stowage"
    }
    assert len(shown) > 5
    return shown | watched


def _metric_of(alarm: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return the metric of an alarm, which a test of its own moves."""
    return ALARMS[alarm]["MetricName"], tuple(sorted(dimensions(alarm).items()))


def _logical_id(text: str) -> str:
    return re.sub(r"^\$\{(\w+)\}$", r"\1", text)

"""Metrics of the template: which are billed, and whether the alarms match what functions write."""

from tests.expanded_template import expanded_of
from tests.template import Template

TEMPLATE = Template({})


def test_gateway_writes_no_metrics_per_method() -> None:
    """There would be five for each method; those of the whole stage are free."""
    (stage,) = expanded_of("AWS::ApiGateway::Stage").values()
    settings = stage["Properties"]["MethodSettings"]
    assert not [one for one in settings if one.get("MetricsEnabled")]


def test_alarms_of_the_gateway_watch_metrics_of_the_stage() -> None:
    alarms = TEMPLATE.operator_alarms().values()
    watched = [one for one in alarms if one["Namespace"] == "AWS/ApiGateway"]
    assert {one["MetricName"] for one in watched} == {"5XXError", "Latency"}
    for alarm in watched:
        assert [one["Name"] for one in alarm["Dimensions"]] == ["ApiName", "Stage"]


def test_alarms_of_own_metrics_name_the_function_that_writes_them() -> None:
    alarms = TEMPLATE.operator_alarms().values()
    own = {
        alarm["MetricName"]: alarm["Dimensions"]
        for alarm in alarms
        if alarm["Namespace"] == "Stowage"
    }
    service = {"Name": "service", "Value": "stowage"}
    worker = {"Name": "function", "Value": {"Ref": "WebhookWorkerFunction"}}
    oauth = {"Name": "function", "Value": {"Ref": "OauthFunction"}}
    stack = {"Name": "stack", "Value": {"Ref": "AWS::StackName"}}
    assert own == {
        "delivery_delay": [service, worker],
        "oauth.invalid_client": [service, oauth],
        "oauth.invalid_grant": [service, oauth],
        # All functions write these (`count_for_service`).
        "codes_refused": [service, stack],
        "lock_outs_at_address": [service, stack],
        "lock_outs_everywhere": [service, stack],
        "throttled_calls": [service, stack],
        "unserved_tables": [service, stack],
    }


def test_every_alarm_notifies_the_topic() -> None:
    for name, alarm in TEMPLATE.operator_alarms().items():
        condition, actions, _ = alarm["AlarmActions"]["Fn::If"]
        assert (condition, actions) == ("HasAlarmTopic", [{"Ref": "AlarmTopicArn"}]), name

"""Metrics of the template: which are billed, and whether the alarms match what functions write."""

from tests.expanded_template import expanded_of
from tests.template import Template

TEMPLATE = Template({})


def test_gateway_writes_no_metrics_per_method() -> None:
    """There would be five for each method; those of the whole stage are free."""
    (stage,) = expanded_of("AWS::ApiGateway::Stage").values()
    settings = stage["Properties"]["MethodSettings"]
    assert not [one for one in settings if one.get("MetricsEnabled")]


def test_every_alarm_notifies_the_topic() -> None:
    for name, alarm in TEMPLATE.operator_alarms().items():
        condition, actions, _ = alarm["AlarmActions"]["Fn::If"]
        assert (condition, actions) == ("HasAlarmTopic", [{"Ref": "AlarmTopicArn"}]), name

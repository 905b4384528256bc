"""The alarms of the template, and the values of the metrics that they watch."""

from tests.log_lines import Written
from tests.stack import NAME
from tests.template import Template

TEMPLATE = Template({})
ALARMS = TEMPLATE.operator_alarms()
FUNCTIONS_OF_TEMPLATE = TEMPLATE.resources("AWS::Serverless::Function")


def dimensions(name: str) -> dict[str, str]:
    """Return the dimensions of an alarm; the logical id stands for the name of a resource."""
    found = {}
    for one in ALARMS[name].get("Dimensions", ()):
        value = one["Value"]
        if isinstance(value, dict):
            value = value.get("Ref") or value["Fn::GetAtt"].removesuffix(".QueueName")
        found[one["Name"]] = NAME if value == "AWS::StackName" else value
    return found


def values(name: str, written: Written) -> list[float]:
    """Return the values of the metric that an alarm watches: namespace, name and dimensions."""
    alarm = ALARMS[name]
    return [
        value
        for one in written.metrics()
        if (one["namespace"], one["name"]) == (alarm["Namespace"], alarm["MetricName"])
        and one["dimensions"] == dimensions(name)
        for value in one["values"]
    ]


def is_breached(name: str, found: list[float]) -> bool:
    """Return whether the values of one period are above the threshold of an alarm."""
    alarm = ALARMS[name]
    assert alarm["ComparisonOperator"] == "GreaterThanThreshold"
    value = max(found, default=0) if alarm["Statistic"] == "Maximum" else sum(found)
    assert alarm["Statistic"] in {"Maximum", "Sum"}
    threshold: float = alarm["Threshold"]
    return value > threshold


def stage() -> dict[str, str]:
    """Return the dimensions of the stage."""
    (api,) = TEMPLATE.resources("AWS::Serverless::Api").values()
    assert api["Name"] == {"Ref": "AWS::StackName"}
    return {"ApiName": NAME, "Stage": api["StageName"]}

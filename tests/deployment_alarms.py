"""The alarms that stop a gradual deployment: their metrics and the value of their expressions."""

import re
from collections.abc import Mapping
from typing import Any

from tests.expanded_template import expanded


def alarm_of(function: str) -> Mapping[str, Any]:
    alarm: Mapping[str, Any] = expanded()[f"{function.removesuffix('Function')}DeploymentAlarm"][
        "Properties"
    ]
    return alarm


def metrics_of(function: str) -> dict[str, Mapping[str, Any]]:
    """Return id → metric of the alarm of a function, without the expression."""
    return {
        one["Id"]: one["MetricStat"] | one["MetricStat"]["Metric"]
        for one in alarm_of(function)["Metrics"]
        if "MetricStat" in one
    }


def evaluated(function: str, **values: float | None) -> Any:
    """Return the expression of the alarm for one minute; a metric without data is None."""
    (expression,) = [one["Expression"] for one in alarm_of(function)["Metrics"] if "Label" in one]
    text = re.sub(r"\bOR\b", "or", expression)
    functions: dict[str, Any] = {
        "IF": lambda condition, yes, no: yes if condition else no,
        "SUM": lambda values: sum(value for value in values if value is not None),
        "FILL": lambda value, missing: missing if value is None else value,
    }
    return eval(text, {"__builtins__": {}}, functions | values)  # noqa: S307 - our template

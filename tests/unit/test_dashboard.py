"""The dashboard of the template: it shows what functions and AWS write, of resources that exist."""

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import combinations
from typing import Any

import pytest

from tests.expanded_template import expanded_of
from tests.template import Template, resource_names
from tests.watched_metrics import AWS_METRICS, is_documented

_ANY_FUNCTION = re.compile(r"Function$")
_EXTERNAL_LOGS = {"ApiAccessLogs", "CanaryLogs"}
"""Log groups that exist only with a parameter, which the dashboard must not name."""


class _Names(dict[str, str]):
    """A name for each resource and pseudo parameter, and nothing else."""

    def __missing__(self, name: str) -> str:
        resource, _, attribute = name.partition(".")
        assert resource in resource_names() or name.startswith("AWS::"), name
        assert attribute in {"", "Arn", "QueueName"}, name
        return f"[{resource}]"

    def __contains__(self, name: object) -> bool:
        return name not in Template({}).parameters()


@cache
def widgets() -> list[dict[str, Any]]:
    """Return the widgets, with the logical ids of resources in brackets."""
    (dashboard,) = Template({}).resources("AWS::CloudWatch::Dashboard").values()
    body: dict[str, Any] = json.loads(Template(_Names()).text(dashboard["DashboardBody"]))
    return body["widgets"]  # type: ignore[no-any-return]


def of_kind(kind: str) -> list[dict[str, Any]]:
    return [one["properties"] for one in widgets() if one["type"] == kind]


def metrics() -> Iterator[tuple[str, str, Mapping[str, str]]]:
    """Yield namespace, name and dimensions of each metric that is drawn by its name."""
    for widget in of_kind("metric"):
        for row in widget["metrics"]:
            if isinstance(row[0], str):
                namespace, name, *pairs = [cell for cell in row if isinstance(cell, str)]
                yield namespace, name, dict(zip(pairs[::2], pairs[1::2], strict=True))


def expressions() -> list[str]:
    rows = [row for widget in of_kind("metric") for row in widget["metrics"]]
    return [row[0]["expression"] for row in rows if isinstance(row[0], dict)]


def test_latency_is_shown_as_three_percentiles() -> None:
    (latency,) = [one for one in of_kind("metric") if one["title"] == "Latency, ms"]
    assert [row[-1]["stat"] for row in latency["metrics"]] == ["p50", "p95", "p99"]


def test_metrics_of_aws_are_documented() -> None:
    found = [one for one in metrics() if one[0] != "Stowage"]
    assert len(found) > 15
    for namespace, name, dimensions in found:
        assert is_documented(namespace, name, dimensions), (namespace, name, dimensions)


def test_searches_name_documented_metrics_of_tenants_tables() -> None:
    searches = [one for one in expressions() if "SEARCH(" in one]
    assert len(searches) == 3
    for one in searches:
        ((schema, name, statistic),) = re.findall(
            r"^SEARCH\('\{([\w/,]+)\} MetricName=\"(\w+)\" TableName=\[AWS::StackName\]-tenant',"
            r" '(\w+)', 300\)$",
            one,
        )
        namespace, dimension = schema.split(",")
        assert dimension == "TableName"
        assert name in AWS_METRICS[namespace]
        assert statistic == "Sum"


def test_other_expressions_use_metrics_of_their_widget() -> None:
    for widget in of_kind("metric"):
        settings = [row[-1] for row in widget["metrics"] if isinstance(row[-1], dict)]
        ids = {one["id"] for one in settings if "id" in one}
        for one in settings:
            if "SEARCH(" not in one.get("expression", "SEARCH("):
                assert set(re.findall(r"\b[a-z]+\b", one["expression"])) <= ids


@pytest.mark.parametrize("dimension", ["FunctionName", "QueueName", "function"])
def test_dimensions_are_names_of_resources(dimension: str) -> None:
    kinds = ("AWS::Serverless::Function", "AWS::SQS::Queue")
    resources = {name for kind in kinds for name in Template({}).resources(kind)}
    values = {one[2][dimension] for one in metrics() if dimension in one[2]}
    assert values
    assert {value.strip("[]") for value in values} <= resources
    is_function = dimension != "QueueName"
    assert {bool(_ANY_FUNCTION.search(value.strip("[]"))) for value in values} == {is_function}


def test_every_queue_that_keeps_failures_is_shown() -> None:
    queues = Template({}).resources("AWS::SQS::Queue")
    shown = {
        one[2]["QueueName"].strip("[]")
        for one in metrics()
        if one[1] == "ApproximateNumberOfMessagesVisible"
    }
    events = {"KeyChanges"}  # not of failures; its alarm says what to do
    assert shown == {name for name, one in queues.items() if "RedrivePolicy" not in one} - events


def test_alarms_are_those_that_always_exist() -> None:
    (shown,) = of_kind("alarm")
    alarms = set(Template({}).operator_alarms())
    assert {one.strip("[]") for one in shown["alarms"]} == alarms - {"CanaryAlarm"}
    assert len(shown["alarms"]) == len(alarms) - 1


def test_log_widgets_read_the_groups_of_the_functions() -> None:
    groups = set(Template({}).resources("AWS::Logs::LogGroup")) - _EXTERNAL_LOGS
    read: dict[str, set[str]] = {}
    for widget in of_kind("log"):
        sources = re.findall(r"SOURCE '\[(\w+)\]'", widget["query"])
        assert len(sources) == len(set(sources)) == widget["query"].count("SOURCE")
        read[widget["title"]] = set(sources)
    assert read["Cold starts"] == read["USD per tenant (list prices of us-east-1)"] == groups
    workers = {
        "AuthorizerLogs", "EventRelayLogs", "ExpiredStockLogs", "ImportWorkerLogs",
        "WebhookWorkerLogs",
    }  # fmt: skip
    assert read["Errors by code"] == read["Slowest routes, ms"] == groups - workers


def test_log_widgets_are_saved_queries() -> None:
    saved = {
        one["QueryString"] for one in Template({}).resources("AWS::Logs::QueryDefinition").values()
    }
    for widget in of_kind("log"):
        assert re.sub(r"^(SOURCE '\S+' \| )+", "", widget["query"]) in saved, widget["title"]


def test_saved_queries_read_the_groups_that_their_lines_are_in() -> None:
    definitions = Template({}).resources("AWS::Logs::QueryDefinition")
    names = {
        name: {one["Ref"] for one in definition["LogGroupNames"]}
        for name, definition in definitions.items()
    }
    groups = set(Template({}).resources("AWS::Logs::LogGroup")) - _EXTERNAL_LOGS
    assert all(group <= groups for group in names.values())
    assert names["WayOfARequestQuery"] == names["CostPerTenantQuery"] == groups
    assert names["ImportProgressQuery"] == {"ImportWorkerLogs"}


def test_widgets_do_not_overlap() -> None:
    for one, other in combinations(widgets(), 2):
        apart = (
            one["x"] + one["width"] <= other["x"]
            or other["x"] + other["width"] <= one["x"]
            or one["y"] + one["height"] <= other["y"]
            or other["y"] + other["height"] <= one["y"]
        )
        assert apart, (one["properties"]["title"], other["properties"]["title"])
    assert all(one["x"] + one["width"] <= 24 for one in widgets())


def test_lines_of_alarms_in_graphs_are_their_thresholds() -> None:
    alarms = Template({}).operator_alarms()
    shown = {
        one["title"]: one["annotations"]["horizontal"][0]["value"]
        for one in of_kind("metric")
        if "annotations" in one
    }
    assert shown == {
        "Latency, ms": alarms["ApiLatencyAlarm"]["Threshold"],
        "Delay of events and deliveries, ms": alarms["RelayDelayAlarm"]["Threshold"],
    }
    assert alarms["RelayDelayAlarm"]["Threshold"] == alarms["WebhookDelayAlarm"]["Threshold"]


def test_a_parameter_switches_off_dashboard_and_queries() -> None:
    for kind in ("AWS::CloudWatch::Dashboard", "AWS::Logs::QueryDefinition"):
        conditions = [one["Condition"] for one in expanded_of(kind).values()]
        assert set(conditions) == {"HasDashboard"}

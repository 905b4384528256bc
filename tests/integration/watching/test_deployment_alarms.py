"""The alarms of gradual deployments watch metrics that functions and Lambda really write."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from tests.agent import Agent
from tests.cases import each_case
from tests.deployment_alarms import evaluated, metrics_of
from tests.expanded_template import expanded
from tests.faults import Answer, AwsFaults, Call, Forward, refusal, refuse_calls
from tests.gateway import Erp
from tests.log_lines import Written, captured
from tests.stack import HOST, Stack, _clear_stack_caches
from tests.template import Template
from tests.watched_metrics import is_documented

TEMPLATE = Template({})
FUNCTIONS = [
    name.removesuffix("DeploymentAlarm") + "Function"
    for name in TEMPLATE.resources("AWS::CloudWatch::Alarm")
    if name.endswith("DeploymentAlarm")
]
_READS = {
    "CatalogFunction": "/products",
    "ChangesFunction": "/changes",
    "DocumentsFunction": "/exit-documents",
    "ImportsFunction": "/imports",
    "LabelsFunction": "/handling-units/1/label",
    "PartnersFunction": "/clients",
    "SettingsFunction": "/audit-log",
    "StockFunction": "/stocks",
    "TransferOrdersFunction": "/transfer-orders",
    "WarehousesFunction": "/warehouses",
    "WavesFunction": "/waves",
    "WebhooksFunction": "/webhooks",
    "WorkFunction": "/receipts",
}
_OTHERS = ("OauthFunction",)
"""Functions that read no data of a company."""
_TOOLS = "McpFunction"
"""The function whose requests are messages."""


def own_metrics(function: str) -> list[Mapping[str, Any]]:
    """Return the metrics of the alarm of a function that functions write themselves."""
    return [one for one in metrics_of(function).values() if one["Namespace"] == "Stowage"]


def dimensions(metric: Mapping[str, Any]) -> dict[str, Any]:
    """Return the dimensions of a metric; the logical id stands for the name of a function."""
    return {
        one["Name"]: one["Value"]["Ref"] if "Ref" in one["Value"] else one["Value"]
        for one in metric["Dimensions"]
    }


def total(metric: Mapping[str, Any], written: Written) -> float | None:
    """Return the sum of a metric as CloudWatch finds it, or None if nothing was written."""
    found = [
        value
        for one in written.metrics()
        if (one["namespace"], one["name"]) == (metric["Namespace"], metric["MetricName"])
        and one["dimensions"] == dimensions(metric)
        for value in one["values"]
    ]
    return sum(found) if found else None


def refuse_everything(_call: Call, _forward: Forward) -> Answer:
    return refusal("AccessDeniedException")


def requests(function: str, stack: Stack, erp: Erp) -> Callable[[], int]:
    """Return a function that sends one request to a function and returns the status."""
    if function in _READS:
        return lambda: erp.get(_READS[function]).status
    if function == _TOOLS:
        find = {"name": "find_products"}
        return lambda: Agent(erp).send("tools/call", find).status
    form = f"grant_type=client_credentials&client_id=stw_acme_{'0' * 24}&client_secret=x"
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    return lambda: (
        stack.gateway.request("POST", "/v1/oauth/token", headers=headers, body=form).status
    )


@each_case("function", [*_READS, *_OTHERS, _TOOLS])
def test_a_release_that_answers_5xx_raises_its_alarm(
    function: str, stack: Stack, aws_faults: AwsFaults, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The values of the alarm are those that the function has written in its log."""
    erp = stack.erp()
    monkeypatch.setenv("AWS_LAMBDA_FUNCTION_NAME", function)
    send = requests(function, stack, erp)
    (metric,) = own_metrics(function)
    others = {"invocations": 20, "errors": 0, "p95": 300}
    with captured() as written:
        assert send() < 500
    assert total(metric, written) is None, "a request without a failure writes no metric"
    assert evaluated(function, **others, answers_5xx=total(metric, written)) == 0
    fault = refuse_everything if function in _OTHERS else refuse_calls("Query", "GetItem")
    if function in _OTHERS:
        _clear_stack_caches()
    with captured() as written, aws_faults.faulty(fault):
        assert send() >= 500
    assert total(metric, written) == 1
    assert evaluated(function, **others, answers_5xx=total(metric, written)) == 1


def test_every_own_metric_of_a_deployment_is_tested() -> None:
    tested = {*_READS, *_OTHERS, _TOOLS, "AuthorizerFunction"}
    assert {name for name in FUNCTIONS if own_metrics(name)} == tested


def test_requests_without_a_token_stop_no_deployment(
    stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The authorizer raises for them, which Lambda counts as errors; anyone can send them."""
    monkeypatch.setenv("AWS_LAMBDA_FUNCTION_NAME", "AuthorizerFunction")
    (metric,) = own_metrics("AuthorizerFunction")
    with captured() as written:
        for _ in range(5):
            headers = {"Authorization": "Basic eDp5", "Host": HOST}
            assert stack.gateway.request("GET", "/v1/products", headers=headers).status == 401
    others = {"invocations": 20, "p95": 30}
    unauthorized = total(metric, written)
    assert unauthorized == 5
    assert evaluated("AuthorizerFunction", **others, errors=5, unauthorized=unauthorized) == 0
    assert evaluated("AuthorizerFunction", **others, errors=6, unauthorized=unauthorized) == 1


@each_case("function", FUNCTIONS)
def test_other_metrics_of_a_deployment_are_those_of_lambda(function: str) -> None:
    for metric in metrics_of(function).values():
        if metric["Namespace"] != "Stowage":
            found = (metric["Namespace"], metric["MetricName"], dimensions(metric))
            assert is_documented(*found), found


def test_a_deployment_names_alarms_whose_metrics_are_tested() -> None:
    """Those of this file, and those of operators in `test_alarms.py`."""
    tested = {f"{name.removesuffix('Function')}DeploymentAlarm" for name in FUNCTIONS}
    tested |= TEMPLATE.operator_alarms().keys()
    gradual = expanded(DeploymentStrategy="Canary10Percent5Minutes").values()
    alarms = {
        alarm["Name"]["Ref"]
        for one in gradual
        if one["Type"] == "AWS::CodeDeploy::DeploymentGroup"
        for alarm in one["Properties"]["AlarmConfiguration"]["Alarms"]
    }
    assert alarms <= tested
    assert len(alarms) > 10
    kinds = {one["Type"] for one in gradual if "Alarm" in one["Type"]}
    assert kinds == {"AWS::CloudWatch::Alarm"}

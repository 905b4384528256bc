"""Tables of docs/deploy.md: what the template declares."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from samcli.yamlhelper import yaml_parse

from tools.pages.markers import table

_SECTIONS: Mapping[str, str] = {
    "DomainName": "#with-a-domain-of-your-own",
    "DefaultAddress": "#with-a-domain-of-your-own",
    "DocsBase": "#links-to-the-pages",
    "AlarmTopicArn": "watching.md#alarms",
    "Dashboard": "watching.md#the-dashboard",
    "Tracing": "watching.md#traces",
    "Canary": "watching.md#the-canary",
    "PermissionsBoundary": "#a-permissions-boundary",
    "RequestRateLimit": "#limiting-traffic",
    "WebAcl": "#a-web-acl",
    "AccessLogs": "#access-logs",
    "AuthorizerConcurrency": "#reserved-concurrency",
    "SnapStart": "aws.md#snapstart",
    "DeploymentStrategy": "#gradual-deployment",
    "WebhookConcurrency": "webhooks.md",
}
"""Parameter → the section that says more about it."""


@cache
def template() -> Mapping[str, Any]:
    """Return the content of `template.yaml`."""
    path = Path(__file__).resolve().parents[2] / "template.yaml"
    content: Mapping[str, Any] = yaml_parse(path.read_text(encoding="utf-8"))
    return content


def resources(kind: str) -> Mapping[str, Mapping[str, Any]]:
    """Return logical id → properties of the resources of one type."""
    return {
        name: resource.get("Properties", {})
        for name, resource in template()["Resources"].items()
        if resource["Type"] == kind
    }


def parameters() -> str:
    """Return the parameters with their defaults, descriptions and values."""
    rows = []
    for name, declared in template()["Parameters"].items():
        linked = f"[`{name}`]({_SECTIONS[name]})" if name in _SECTIONS else f"`{name}`"
        default = f"`{declared['Default']}`" if declared["Default"] != "" else "empty"
        values = ", ".join(f"`{value}`" for value in declared.get("AllowedValues", ()))
        text = declared["Description"] + (f" Values: {values}." if values else "")
        rows.append((linked, default, text))
    return table(("Parameter", "Default", "Meaning"), rows)


def functions() -> str:
    """Return memory, timeout and concurrency of each function."""
    common = template()["Globals"]["Function"]
    rows = [
        (
            f"`{name}`",
            one.get("MemorySize", common["MemorySize"]),
            one.get("Timeout", common["Timeout"]),
            _concurrency(one),
        )
        for name, one in resources("AWS::Serverless::Function").items()
    ]
    header = ("Function", "Memory (MB)", "Timeout (s)", "Concurrent executions")
    return table(header, rows)


def _concurrency(function: Mapping[str, Any]) -> str:
    """Return what limits the concurrent executions of a function."""
    if reserved := function.get("ReservedConcurrentExecutions"):
        return f"account, or `{reserved['Fn::If'][1]['Ref']}`"
    for event in function.get("Events", {}).values():
        match event["Properties"]:
            case {"ScalingConfig": {"MaximumConcurrency": {"Ref": parameter}}}:
                return f"`{parameter}` per queue"
            case {"ScalingConfig": {"MaximumConcurrency": number}}:
                return str(number)
            case {"ParallelizationFactor": number}:
                return f"{number} per shard of the stream"
    return "account"

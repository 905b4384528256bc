"""Tables of what the template declares, in the pages and runbooks of docs/operating/."""

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from textwrap import fill
from typing import Any

from shared.warehouse.settings.values import SETTING_NAMES
from tools.pages.markers import table
from tools.template_file import read, resources

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
    "WebhookConcurrency": "../guides/webhooks.md",
}
"""Parameter → the section that says more about it."""

_TENANT_ATTRIBUTES = frozenset({
    "pk", "clients", "mobile_clients", "users", "modules", "revoked", "timezone",
    "settings_version", "settings_updated_at",
})  # fmt: skip
"""What the function of the settings writes in a tenant's item in addition to the settings."""

_RUNBOOKS = Path(__file__).resolve().parents[2] / "docs" / "operating" / "runbooks"


def settings_attributes() -> str:
    """Return the attributes of a tenant's item that its administrators change, in the template."""
    names = ", ".join(sorted(_TENANT_ATTRIBUTES | SETTING_NAMES))
    indent = " " * 22
    return fill(f"[{names}]", 120, initial_indent=indent, subsequent_indent=f"{indent} ")


def parameters() -> str:
    """Return the parameters with their defaults, descriptions and values."""
    rows = []
    for name, declared in read()["Parameters"].items():
        linked = f"[`{name}`]({_SECTIONS[name]})" if name in _SECTIONS else f"`{name}`"
        default = f"`{declared['Default']}`" if declared["Default"] != "" else "empty"
        values = ", ".join(f"`{value}`" for value in declared.get("AllowedValues", ()))
        text = declared["Description"] + (f" Values: {values}." if values else "")
        rows.append((linked, default, text))
    return table(("Parameter", "Default", "Meaning"), rows)


def functions() -> str:
    """Return memory, timeout and concurrency of each function."""
    common = read()["Globals"]["Function"]
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


def alarms() -> str:
    """Return the alarms that a person must act on, with the title of the page of each."""
    rows = []
    for page, names in _alarms_of_pages().items():
        title = (_RUNBOOKS / f"{page}.md").read_text(encoding="utf-8").partition("\n")[0]
        listed = ", ".join(f"`{name}`" for name in names)
        rows.append((listed, f"[{title.removeprefix('# ')}](runbooks/{page}.md)"))
    return table(("Alarm", "Page"), rows)


def conditions(page: str) -> str:
    """Return when the alarms of a page are raised."""
    declared = resources("AWS::CloudWatch::Alarm")
    rows = {tuple(_condition(declared[name])): None for name in _alarms_of_pages()[page]}
    return table(("Metric", "Raised when", "Missing data"), rows)


def pages_of_alarms() -> list[str]:
    """Return the names of the pages to which the alarms link."""
    return list(_alarms_of_pages())


@cache
def _alarms_of_pages() -> Mapping[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, alarm in sorted(resources("AWS::CloudWatch::Alarm").items()):
        if not name.endswith("DeploymentAlarm"):
            text = alarm["AlarmDescription"]["Fn::Sub"][0]
            found.setdefault(text.rpartition("/")[2], []).append(name)
    return found


def _condition(alarm: Mapping[str, Any]) -> Iterator[str]:
    statistic = alarm.get("Statistic") or alarm["ExtendedStatistic"]
    periods = alarm["EvaluationPeriods"]
    points = alarm.get("DatapointsToAlarm", periods)
    yield f"`{alarm['Namespace']}` `{alarm['MetricName']}`, {statistic}"
    yield f"> {alarm['Threshold']} in {points} of {periods} periods of {alarm['Period']} s"
    yield {"notBreaching": "not breaching", "breaching": "breaching"}[alarm["TreatMissingData"]]

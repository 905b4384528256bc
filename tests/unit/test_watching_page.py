"""docs/operating/watching.md: what it lists is what the template has, and its costs are counted."""

import json
import re

from tests.template import PATH, Template

TEMPLATE = Template({})
ALARMS = TEMPLATE.operator_alarms()
PAGE = (PATH.parent / "docs" / "operating" / "watching.md").read_text(encoding="utf-8")
_ALARM, _DASHBOARD, _METRIC = 0.10, 3.00, 0.30
"""USD per month: https://aws.amazon.com/cloudwatch/pricing/, us-east-1."""


def rows(section: str) -> list[list[str]]:
    """Return the cells of the tables in a section."""
    text = PAGE.partition(f"# {section}\n")[2].partition("\n#")[0]
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def cost(what: str) -> str:
    (price,) = [row[1] for row in rows("What it costs") if row[0].startswith(what)]
    return price


def test_widgets_are_listed_in_their_rows() -> None:
    (dashboard,) = TEMPLATE.resources("AWS::CloudWatch::Dashboard").values()
    at: dict[int, list[str]] = {}
    for widget in json.loads(dashboard["DashboardBody"]["Fn::Sub"][0])["widgets"]:
        at.setdefault(widget["y"], []).append(widget["properties"]["title"])
    shown = [re.findall(r"\*([^*]+)\*", row[1]) for row in rows("The dashboard")[1:]]
    assert shown == list(at.values())


def test_saved_queries_are_listed() -> None:
    saved = [
        one["Name"]["Fn::Sub"].rpartition("/")[2]
        for one in TEMPLATE.resources("AWS::Logs::QueryDefinition").values()
    ]
    assert [row[0].strip("`") for row in rows("Saved queries")[1:]] == saved


def test_costs_are_those_of_the_template() -> None:
    permanent = len(ALARMS) - 1  # the canary is off by default
    assert cost(f"{permanent} alarms at {_ALARM:.2f}") == f"{permanent * _ALARM:.2f}"
    assert cost("the dashboard") == f"{_DASHBOARD:.2f}"
    assert cost("metrics of functions") == f"{8 * _METRIC:.2f}"

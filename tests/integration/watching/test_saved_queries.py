"""The saved log queries: every field that they use is in the lines that functions write."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from tests import prices
from tests.clock import Clock
from tests.faults import AwsFaults
from tests.integration.watching.activity import run_activity
from tests.stack import NAME, Stack
from tests.template import Template

TEMPLATE = Template({"AWS::StackName": NAME})
QUERIES = TEMPLATE.resources("AWS::Logs::QueryDefinition")

_OF_AWS = {"@timestamp", "@message", "@log", "@type", "@initDuration"}
"""Fields that CloudWatch Logs adds itself. It reads the last two from the lines of Lambda:
https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/CWL_AnalyzeLogData-discoverable-fields.html
"""
_COMMANDS = {"fields", "filter", "limit", "sort", "stats"}
_WORDS = {"and", "as", "asc", "by", "desc", "in", "like", "not", "or"}
_FUNCTIONS = {"count", "count_distinct", "floor", "ispresent", "latest", "pct", "sum"}
_TOKEN = re.compile(r'"[^"]*"|(@?[A-Za-z_]\w*)(\()?')

type Line = Mapping[str, Any]


@pytest.fixture(scope="module")
def lines_of_a_day() -> list[Line]:
    """The lines are made once; see `lines`."""
    return []


@pytest.fixture
def lines(
    lines_of_a_day: list[Line],
    stack: Stack,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
    aws_faults: AwsFaults,
) -> list[Line]:
    """The log lines of a deployment in which everything happened."""
    del clock
    if not lines_of_a_day:
        lines_of_a_day += run_activity(stack, monkeypatch, aws_faults).lines()
    return lines_of_a_day


def commands(query: str) -> Iterator[tuple[str, str]]:
    """Yield name and arguments of each command."""
    for text in query.split("|"):
        name, _, arguments = text.strip().partition(" ")
        assert name in _COMMANDS, name
        yield name, arguments


def fields_of(query: str) -> set[str]:
    """Return the fields of log lines that a query uses, without the names that it defines."""
    used, defined = set[str](), set[str]()
    for _, arguments in commands(query):
        defined |= set(re.findall(r"\bas (\w+)", arguments))
        for match in _TOKEN.finditer(arguments):
            name, is_function = match[1], match[2]
            if is_function and name not in _WORDS:
                assert name in _FUNCTIONS, name
            elif name and name not in _WORDS:
                used.add(name)
    return used - defined


def messages_of(query: str) -> list[str]:
    """Return the messages that the first filter selects; none when it does not name any."""
    first = next(commands(query))[1]
    found = re.search(r'message (?:= ("[^"]+")|in \[([^\]]+)\])', first)
    return re.findall(r'"([^"]+)"', found[1] or found[2]) if found else []


def test_parser_finds_fields_and_not_functions_or_names() -> None:
    query = (
        'filter a = "b" and ispresent(c)\n| stats sum(d) * 2 as e by f\n| sort e desc\n| limit 3'
    )
    assert fields_of(query) == {"a", "c", "d", "f"}
    assert messages_of('filter message in ["x", "y"] and z = "u"') == ["x", "y"]
    assert messages_of('filter message = "x" and z = "u"') == ["x"]


@pytest.mark.parametrize("name", QUERIES)
def test_fields_are_those_of_log_lines(name: str, lines: list[Line]) -> None:
    query = QUERIES[name]["QueryString"]
    wanted = messages_of(query)
    assert {line["message"] for line in lines} >= set(wanted)
    selected = [line for line in lines if not wanted or line["message"] in wanted]
    known = {key for line in selected for key in line} | _OF_AWS
    assert fields_of(query) <= known, "a field that no line has"


@pytest.mark.parametrize("name", QUERIES)
def test_query_has_a_name_in_the_folder_of_the_stack(name: str) -> None:
    path = TEMPLATE.text(QUERIES[name]["Name"])
    words = "".join(word.capitalize() for word in path.removeprefix(f"{NAME}/").split("-"))
    assert name == f"{words}Query"


def test_values_in_filters_are_those_of_log_lines(lines: list[Line]) -> None:
    outcomes = {line["outcome"] for line in lines if line["message"] == "delivery"}
    assert {"retrying", "failed"} <= outcomes
    (filtered,) = re.findall(r"outcome in \[(.*)\]", QUERIES["FailingWebhooksQuery"]["QueryString"])
    assert set(re.findall(r'"(\w+)"', filtered)) == {"retrying", "failed"}


def test_requests_of_a_tenant_show_who_did_what(lines: list[Line]) -> None:
    """The query of a tenant finds the token requests, too."""
    fields = fields_of(QUERIES["RequestsOfATenantQuery"]["QueryString"]) - _OF_AWS
    found = [one for one in lines if one["message"] == "answered" and one.get("tenant") == "acme"]
    assert {one["route"] for one in found} >= {"GET /products", "POST /products", "/oauth/token"}
    assert any(fields <= one.keys() for one in found)


def test_way_of_a_request_leads_to_the_cause_of_an_error(lines: list[Line]) -> None:
    (failed,) = [one for one in lines if one.get("status") == 500]
    way = [one for one in lines if one.get("request_id") == failed["request_id"]]
    assert [one["message"] for one in way] == ["unexpected error", "answered"]
    assert "AccessDeniedException" in way[0]["exception"]


def test_cost_of_a_tenant_has_its_requests_and_its_background_work(lines: list[Line]) -> None:
    (message, other) = messages_of(QUERIES["CostPerTenantQuery"]["QueryString"])
    for each in (message, other):
        found = [one for one in lines if one["message"] == each and one.get("tenant") == "acme"]
        assert sum(one["read_units"] for one in found) > 0


def test_prices_are_those_of_the_performance_page() -> None:
    text = " ".join(QUERIES["CostPerTenantQuery"]["QueryString"].split())
    assert f"sum(read_units) * {prices.READ_UNITS} / 1000000" in text
    assert f"sum(write_units) * {prices.WRITE_UNITS} / 1000000" in text
    assert f"count(status) * {prices.GATEWAY + prices.LAMBDA_REQUESTS} / 1000000" in text
    assert f"sum(milliseconds) * {prices.LAMBDA_GB_SECOND:.10f} / 1000" in text

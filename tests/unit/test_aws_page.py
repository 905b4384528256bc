"""The services in docs/operating/aws.md: complete, with sources, tests and alarms that exist."""

import re
from pathlib import Path

from tests.cases import each_case
from tests.expanded_template import expanded
from tests.template import PATH, Template

ROOT = PATH.parent
_PAGE = (ROOT / "docs" / "operating" / "aws.md").read_text(encoding="utf-8")
_SECTION = _PAGE.partition("\n## Services\n")[2].partition("\n## ")[0]
ROWS = [
    [cell.strip() for cell in line.strip("|").split(" | ")]
    for line in _SECTION.splitlines()
    if line.startswith("| ") and not line.startswith("| Service |")
]
_CALLED = re.compile(r"\bclient(?:_as)?\(\s*[\"'](\w+)[\"']")


def listed() -> set[str]:
    """Return what the first column names: types of resources, clients and parameters."""
    return {name for row in ROWS for name in re.findall(r"`([^`]+)`", row[0])}


def called(*folders: str) -> set[str]:
    """Return the services of which the code creates a client."""
    paths = [path for folder in folders for path in Path(ROOT / folder).rglob("*.py")]
    return {name for path in paths for name in _CALLED.findall(path.read_text(encoding="utf-8"))}


def test_every_service_of_the_template_is_listed() -> None:
    resources = expanded(DeploymentStrategy="Canary10Percent5Minutes").values()
    kinds = {one["Type"] for one in resources} | {"AWS::Serverless::Function"}
    services = {kind.rpartition("::")[0] for kind in kinds}
    assert {name for name in listed() if name.startswith("AWS::")} == services


def test_every_service_that_the_code_calls_is_listed() -> None:
    services = called("shared", "functions", "operations", "cli")
    assert {"dynamodb", "sts"} < services
    assert services <= listed()


def test_every_service_of_a_policy_is_listed() -> None:
    text = PATH.read_text(encoding="utf-8")
    actions = set(re.findall(r"\b(\w+):[A-Z][A-Za-z]+[\],\s]", text)) - {"aws", "arn"}
    names = {name.rpartition("::")[2].lower() for name in listed()}
    assert {"dynamodb", "xray"} < actions
    assert actions <= names


@each_case("row", ROWS, named=lambda row: row[0].partition(":")[0])
def test_a_row_has_sources_and_tests_or_alarms(row: list[str]) -> None:
    assert len(row) == 4
    assert "https://docs.aws.amazon.com/" in row[2]
    named = re.findall(r"`([^`]+)`", row[3])
    assert any(name.startswith("tests/") for name in named)
    alarms = Template({}).resources("AWS::CloudWatch::Alarm")
    for name in named:
        exists = (ROOT / name).is_file() if name.startswith("tests/") else name in alarms
        assert exists, name


def test_every_alarm_of_the_template_is_named_by_the_page() -> None:
    for alarm in Template({}).operator_alarms():
        assert f"`{alarm}`" in _PAGE, alarm

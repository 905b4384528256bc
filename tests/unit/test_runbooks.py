"""The pages of the alarms: one for each, linked from the description."""

import re

from tests.cases import each_case
from tests.template import PATH, Template, resource_names

TEMPLATE = Template({})
ALARMS = TEMPLATE.operator_alarms()
FOLDER = PATH.parent / "docs" / "operating" / "runbooks"
PAGES = {path.stem: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md")}
_SECTIONS = [
    "What it means", "What users notice", "How to look", "What to do", "When it is over",
]  # fmt: skip
_LINK = re.compile(r"(?<= )\$\{Page\}/([a-z-]+)$")
_ADDRESS = {
    "Fn::If": ["HasPages", {"Fn::Sub": "${DocsBase}/operating/runbooks"}, "docs/operating/runbooks"]
}
_LONGEST_DESCRIPTION = 1_024


def page_of(alarm: str) -> str:
    """Return the name of the page that the description links to."""
    (name,) = _LINK.findall(ALARMS[alarm]["AlarmDescription"]["Fn::Sub"][0])
    return str(name)


@each_case("alarm", ALARMS)
def test_description_links_to_the_page_of_the_alarm(alarm: str) -> None:
    assert f"`{alarm}`" in PAGES[page_of(alarm)].splitlines()[2]
    pattern, variables = ALARMS[alarm]["AlarmDescription"]["Fn::Sub"]
    assert variables == {"Page": _ADDRESS}
    longest = TEMPLATE.parameter("DocsBase")["MaxLength"] + len("/operating/runbooks")
    assert len(pattern) + longest <= _LONGEST_DESCRIPTION


def test_link_is_an_address_only_where_pages_are_published() -> None:
    default = TEMPLATE.parameter("DocsBase")["Default"]
    same = {"Fn::Equals": [{"Ref": "DocsBase"}, default]}
    assert TEMPLATE.condition("HasPages") == {"Fn::Not": [same]}
    assert all((FOLDER / f"{page_of(alarm)}.md").is_file() for alarm in ALARMS)


@each_case("alarm", ALARMS)
def test_description_has_the_steps_in_short(alarm: str) -> None:
    """Whoever gets it by e-mail may have no page at hand."""
    text = ALARMS[alarm]["AlarmDescription"]["Fn::Sub"][0]
    steps = [int(number) for number in re.findall(r" ([0-9])\. [A-Z0-9]", text)]
    assert steps == [*range(1, len(steps) + 1)]
    assert len(steps) > 1
    page = PAGES[page_of(alarm)]
    for command in re.findall(r"`(stowage [^`]+)`", text):
        assert command in page, command
    for query in re.findall(r"[Qq]uery ([a-z-]+)", text):
        assert f"`{query}`" in page, query
    for logs in re.findall(r"Log group (\w+)", text):
        assert f"`{logs}`" in page, logs


def test_every_page_belongs_to_an_alarm() -> None:
    assert {page_of(alarm) for alarm in ALARMS} == PAGES.keys()


@each_case("page", PAGES)
def test_page_answers_the_same_questions(page: str) -> None:
    assert re.findall(r"^## (.+)$", PAGES[page], re.MULTILINE) == _SECTIONS
    for section in re.split(r"^## .+$", PAGES[page], flags=re.MULTILINE)[1:]:
        assert section.strip()


@each_case("page", PAGES)
def test_page_names_alarms_that_link_to_it(page: str) -> None:
    named = set(re.findall(r"`(\w+Alarm)`", PAGES[page]))
    assert named == {alarm for alarm in ALARMS if page_of(alarm) == page}


@each_case("page", PAGES)
def test_widgets_queries_and_resources_of_a_page_exist(page: str) -> None:
    (dashboard,) = TEMPLATE.resources("AWS::CloudWatch::Dashboard").values()
    titles = set(re.findall(r'"title": "([^"]+)"', dashboard["DashboardBody"]["Fn::Sub"][0]))
    for text in re.findall(r"[Ww]idgets? (\*[^*]+\*(?: and \*[^*]+\*)?)", PAGES[page]):
        assert set(re.findall(r"\*([^*]+)\*", " ".join(text.split()))) <= titles, text
    queries = {
        one["Name"]["Fn::Sub"].removeprefix("${AWS::StackName}/")
        for one in TEMPLATE.resources("AWS::Logs::QueryDefinition").values()
    }
    assert set(re.findall(r"`([a-z]+(?:-[a-z]+)+)`", PAGES[page])) <= queries
    named = re.findall(r"`([A-Z]\w+(?:Logs|Queue|Letters|Function|Failures|Role))`", PAGES[page])
    assert set(named) <= resource_names()


@each_case("page", PAGES)
def test_page_says_where_to_look(page: str) -> None:
    look = PAGES[page].partition("## How to look\n")[2].partition("\n## ")[0]
    assert re.search(r"[Ww]idget|[Qq]uery|Log group|Metrics of", look)

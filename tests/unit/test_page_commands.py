"""The commands of the pages: labelled, complete, and excluded from the run only with a reason."""

import re
import textwrap
from functools import cache
from typing import Any

import pytest

from tests.cases import each_case
from tests.page_commands import (
    NOT_RUN,
    PAGES,
    Answer,
    Command,
    commands_of,
    differences,
    is_run,
    read_page,
    unlabelled_commands,
)

_USES_TOKEN = "Bearer $TOKEN"
_OWN_SETUP = {"docs/guides/integrating.md"}
"""Pages that explain the steps of the setup one by one."""

_SETUP = """\
value() { python3 -c "import json, sys; print(json.load(sys.stdin)$1)"; }
acme() { value "['tenants']['acme']['$1']" <.local/stack.json; }
BASE=$(acme base_url) ID=$(acme client_id) SECRET=$(acme client_secret)
TOKEN=$(curl -s $BASE/oauth/token -u "$ID:$SECRET" -d grant_type=client_credentials |
  value "['access_token']")
"""


@cache
def _commands(page: str) -> list[Command]:
    """Return the commands of a page, read once."""
    return commands_of(read_page(page))


@each_case("page", PAGES)
def test_blocks_of_commands_are_labelled(page: str) -> None:
    assert unlabelled_commands(read_page(page)) == []


@each_case("page", [page for page in PAGES if page not in _OWN_SETUP])
def test_pages_that_use_a_token_request_it_in_the_same_way(page: str) -> None:
    text = read_page(page)

    assert _USES_TOKEN not in text or text.count(_SETUP) == 1


@each_case(("page", "beginning"), NOT_RUN)
def test_commands_that_are_not_run_exist(page: str, beginning: str) -> None:
    assert any(each.text.startswith(beginning) for each in _commands(page))


def test_no_make_target_and_no_command_for_an_aws_account_is_run() -> None:
    """A target could stop the stack, or write into the folders that the tests link."""
    run = [(page, each.text) for page in PAGES for each in _commands(page) if is_run(page, each)]

    assert not [each for each in run if re.match(r"(make|aws|sam) [a-z]", each[1])]
    assert len({page for page, _ in run}) >= 8


PAGE = """
```sh
# read it
curl -s \\
  "$BASE" |
  cat
# 404 {"error": {"code": "not_found", …}}: it has gone
read A B < <(python3 -c '
print(1, 2)')   # no answer
curl -s $BASE/x   # too late: 409 conflict
cat >orders.csv <<'END'
# a row

END
ls
```

```json
[{"a": "…"}]
```

```json
{"b": 1}
```

1. In a list

   ```sh
   ls -l
   ```

```python
print("x")
```
"""


def test_commands_are_found_with_their_answers() -> None:
    found = commands_of(PAGE)

    assert [(each.line, each.text, each.language) for each in found] == [
        (4, 'curl -s \\\n  "$BASE" |\n  cat', "sh"),
        (8, "read A B < <(python3 -c '\nprint(1, 2)')   # no answer", "sh"),
        (10, "curl -s $BASE/x   # too late: 409 conflict", "sh"),
        (11, "cat >orders.csv <<'END'\n# a row\n\nEND", "sh"),
        (15, "ls", "sh"),
        (29, "ls -l", "sh"),
        (33, 'print("x")\n', "python"),
    ]
    assert [each.answer for each in found] == [
        Answer({"error": {"code": "not_found", "…": 0}}, "404"), None, Answer("…", "409"), None,
        Answer([{"a": "…"}]), None, None,
    ]  # fmt: skip


@pytest.mark.parametrize("block", ["curl x", "  make run", "$ ls", "export A=1", "text\naws s3 ls"])
def test_unlabelled_commands_are_found(block: str) -> None:
    fenced = f"```\n{block}\n```\n"

    assert unlabelled_commands(fenced) == [f"{block}\n"]
    assert unlabelled_commands(textwrap.indent(fenced, "   "))
    assert unlabelled_commands(fenced.replace("```\n", "```bash\n", 1))
    assert not unlabelled_commands(fenced.replace("```\n", "```sh\n", 1))


@pytest.mark.parametrize(
    ("shown", "got", "difference"),
    [
        ({"a": 1}, {"a": "1"}, "answer.a is number on the page and text in the answer"),
        ({"a": True}, {"a": 1}, "answer.a is boolean on the page and number in the answer"),
        ({"a": None}, {"a": {}}, "answer.a is null on the page and object in the answer"),
        ({"a": 1}, {}, "answer.a is not in the answer"),
        ({}, {"a": 1}, "answer.a is not on the page"),
        ({"a": 1, "…": 0}, {"b": 1}, "answer.a is not in the answer"),
        ([{"a": 1}], [], "answer is empty in the answer"),
        ([{"a": 1}], [{"a": 1}, {"b": 1, "a": 1}], "answer[1].b is not on the page"),
        ({"a": 1}, None, "answer is object on the page and null in the answer"),
    ],
)
def test_differences_in_shape_are_found(shown: Any, got: Any, difference: str) -> None:
    assert list(differences(shown, got)) == [difference]

"""The documentation page of the error codes."""

import re

from shared.kernel.errors import CODES
from tools.error_page import ADVICE, page
from tools.generated import ROOT


def test_every_code_has_a_cause_an_example_and_a_remedy() -> None:
    assert set(ADVICE) == set(CODES)
    for advice in ADVICE.values():
        assert advice.cause
        assert advice.example
        assert advice.remedy


def test_every_code_has_the_anchor_that_doc_url_names() -> None:
    assert re.findall(r'<a id="(\w+)"></a>', page()) == list(CODES)


def test_its_address_is_that_of_doc_url_and_not_that_of_its_file() -> None:
    assert page().startswith("---\npermalink: /errors\n---\n")


def test_the_committed_page_is_up_to_date() -> None:
    assert (ROOT / "docs/reference/errors.md").read_text() == page()

"""The comparison of Checkov's findings with the exceptions; `make check` runs Checkov itself."""

import fnmatch
import tomllib
from typing import Any

import pytest

from tests.expanded_template import expanded
from tools import scan_template
from tools.scan_template import EXCEPTIONS, PLANTED, Failure, problems, without_planted

QUEUE: Failure = ("CKV_1", "AWS::SQS::Queue.Queue")
REASON = {"resources": ["AWS::SQS::Queue.*"], "reason": "It has no secrets."}


@pytest.mark.parametrize(
    ("found", "exceptions", "expected"),
    [
        ([QUEUE], {"CKV_1": REASON}, []),
        ([QUEUE], {}, ["CKV_1: AWS::SQS::Queue.Queue does not pass the check"]),
        (
            [QUEUE, ("CKV_1", "AWS::S3::Bucket.Files")],
            {"CKV_1": REASON},
            ["CKV_1: AWS::S3::Bucket.Files does not pass the check"],
        ),
        (
            [("CKV_2", QUEUE[1])],
            {"CKV_1": REASON, "CKV_2": REASON},
            ["CKV_1: no exception is needed for AWS::SQS::Queue.*; remove it"],
        ),
        (
            [QUEUE],
            {"CKV_1": {"resources": ["AWS::SQS::Queue.*"], "reason": ""}},
            ["CKV_1: the exception has no reason"],
        ),
    ],
)
def test_only_failures_with_a_reasoned_exception_are_accepted(
    found: list[Failure], exceptions: dict[str, Any], expected: list[str]
) -> None:
    assert list(problems(found, exceptions)) == expected


def test_exceptions_name_resources_that_the_template_creates() -> None:
    exceptions = tomllib.loads(EXCEPTIONS.read_text(encoding="utf-8"))
    created = {f"{one['Type']}.{name}" for name, one in expanded().items()}
    assert exceptions
    for exception in exceptions.values():
        assert exception.keys() == {"resources", "reason"}
        for pattern in exception["resources"]:
            assert fnmatch.filter(created, pattern), pattern


def test_the_planted_violation_must_be_found_and_is_left_out() -> None:
    found = {PLANTED: "everybody reads", ("CKV_9", PLANTED[1]): "another", QUEUE: "queues"}
    assert without_planted(found) == {QUEUE: "queues"}
    with pytest.raises(SystemExit, match="did not find the planted violation CKV_AWS_20"):
        without_planted({QUEUE: "queues"})


def test_a_violation_in_the_template_fails_the_scan(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the answer that Checkov gives for it; `make check` has Checkov itself find one."""
    found = {QUEUE: "queues"}
    monkeypatch.setattr(scan_template, "failures", lambda: found)
    with pytest.raises(SystemExit, match="Change the template, or tools/checkov"):
        scan_template.main()

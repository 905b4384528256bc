"""The comparison of Checkov's findings with the exceptions; `make check` runs Checkov itself."""

import tomllib
from typing import Any

import pytest

from tests.template import Template
from tools.scan_template import EXCEPTIONS, Failure, problems

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


def test_exceptions_name_kinds_of_resources_of_the_template() -> None:
    exceptions = tomllib.loads(EXCEPTIONS.read_text(encoding="utf-8"))
    assert exceptions
    for exception in exceptions.values():
        assert exception.keys() == {"resources", "reason"}
        for pattern in exception["resources"]:
            kind, _, name = pattern.partition(".")
            named = Template({}).resources(kind)
            assert named, pattern
            assert name == "*" or name in named, pattern

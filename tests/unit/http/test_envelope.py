"""The error envelope."""

import json

from shared.http.envelope import error_response
from shared.kernel.errors import Problem, ValidationFailed


def test_too_many_problems_for_a_response_are_still_a_validation_error() -> None:
    code = "\U0001f4e6" * 50
    problems = [
        Problem(f"lines.{n // 400}.serials.{n}", f"{code} is not known") for n in range(400_000)
    ]

    reply = error_response(ValidationFailed(problems), "r1", "https://docs.test")

    assert reply.fits
    assert reply.status == 422
    answer = json.loads(reply.body)
    assert answer["message"].endswith("(and 399999 more)")
    assert answer["errors"][4_999]["field"] == "lines.12.serials.4999"

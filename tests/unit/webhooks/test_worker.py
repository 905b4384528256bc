"""The worker's imports: what they cost at a cold start, and what the build removes."""

from tests.subprocesses import output_of


def test_the_worker_starts_without_the_parser_of_powertools() -> None:
    """The build removes the parser; Powertools imports it if pydantic is imported first."""
    program = (
        "import functions.webhook_worker.app, sys;"
        "sys.exit('aws_lambda_powertools.utilities.parser' in sys.modules)"
    )
    output_of("-c", program)

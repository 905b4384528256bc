"""Running the command line in tests, against a stack with the outputs of template.yaml."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from click.testing import CliRunner, Result
from moto.cloudformation.models import cloudformation_backends

from cli import deployment
from cli.main import main
from shared.kernel.aws import client
from shared.kernel.config import config
from shared.kernel.db import schema
from tests.stack import ACCOUNT, ADDRESS, REGION

type Run = Callable[..., Result]

_describe = deployment._describe
_descriptions: dict[str, Mapping[str, Any]] = {}
"""The stacks that tests have deployed, by their ids."""


def deploy_stack(address: str = ADDRESS, **changes: str | None) -> None:
    """Create a CloudFormation stack with the outputs of template.yaml."""
    settings = config()
    outputs = {
        "ApiUrl": address,
        "ApiId": "api",
        "ControlTable": settings.control_table,
        "OutboxTable": settings.outbox_table,
        "SigningKeyId": ",".join(settings.signing_keys),
        "TableUnits": str(settings.table_units),
        "SecretHashKeyId": settings.secret_hash_key,
        "SealingKeyId": settings.sealing_key,
        "WebhookQueueUrl": settings.webhook_queue or "https://sqs.example/deliveries",
        "WebhookSlowQueueUrl": settings.webhook_slow_queue or "https://sqs.example/slow",
        "WebhookDeadLettersUrl": settings.webhook_dead_letters or "https://sqs.example/dead",
        "ImportQueueUrl": settings.import_queue or "https://sqs.example/imports",
        "ImportDeadLettersUrl": settings.import_dead_letters or "https://sqs.example/dead-imports",
        "RelayFailuresUrl": settings.relay_failures or "https://sqs.example/relay",
        "SchemaVersion": str(schema.SCHEMA_VERSION),
        "ImportBucket": settings.import_bucket or "stowage-imports",
        "ImportWorkBucket": settings.import_work_bucket or "stowage-work",
        "TenantImportRoleArn": settings.tenant_import_role
        or "arn:aws:iam::123456789012:role/import",
        **changes,
    }
    created = client("cloudformation").create_stack(
        StackName="stowage",
        TemplateBody=json.dumps(
            {
                "Resources": {"Queue": {"Type": "AWS::SQS::Queue"}},
                "Outputs": {name: {"Value": value} for name, value in outputs.items() if value},
            }
        ),
    )
    shown = [{"OutputKey": key, "OutputValue": value} for key, value in outputs.items() if value]
    _descriptions[created["StackId"]] = {**created, "Outputs": shown}


def _described(target: deployment.StackTarget) -> Mapping[str, Any]:
    """Return the description of a stack; moto needs longer for it than most commands in all."""
    for stack in cloudformation_backends[ACCOUNT][REGION].stacks.values():
        if stack.name == target.stack and stack.stack_id in _descriptions:
            return _descriptions[stack.stack_id]
    return _describe(target)


def run(*arguments: str, typed: str = "") -> Result:
    """Run `stowage` with these arguments, and `typed` as its standard input."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(deployment, "_describe", _described)
        return CliRunner(mix_stderr=False).invoke(main, arguments, input=typed)


def as_json(*arguments: str, typed: str = "") -> Any:
    """Return the JSON output of a command, which succeeds."""
    result = run("--json", *arguments, typed=typed)
    assert result.exit_code == 0, (result.stdout, result.stderr, result.exception)
    return json.loads(result.stdout)


def refused(*arguments: str, code: int = 1, typed: str = "") -> str:
    """Run a command that is refused with an exit code; return what it says.

    It prints nothing to standard output, on which only what is typed is echoed.
    """
    result = run(*arguments, typed=typed)
    assert result.exit_code == code, result.stderr
    assert typed or result.stdout == ""
    return result.stderr

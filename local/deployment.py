"""`sam deploy` of the built template to the emulator, and the outputs of the stack."""

import hashlib
import json
import subprocess
from pathlib import Path
from typing import Any

from botocore.exceptions import ClientError

from local.server import LocalRunFailed, Server
from local.settings import (
    BUILD,
    DATA,
    DEPLOY_LOG,
    REGION,
    ROOT,
    STACK_NAME,
    architecture,
    aws_environment,
)
from shared.kernel.aws import client

_ARTIFACT_BUCKET = "stowage-artifacts"
_PARAMETERS = (
    "Architecture={} DeletionProtection=false"
    " WebhookConcurrency=5 WebhookLocalhost=true WebhookRetryDelays=0,1,1"
)
_DEPLOYED_DIGEST = DATA / "deployed.json"
"""File with the digest of the deployed build; part of the emulator's state."""


def deploy(server: Server) -> bool:
    """Deploy the output of `make build`, unless the same build is already deployed.

    Returns:
        True if the stack was deployed, False if it was up to date.

    Raises:
        LocalRunFailed: There is no build, or `sam deploy` failed.
    """
    if not (BUILD / "template.yaml").exists():
        raise LocalRunFailed("There is no build yet. Run `make build` first.")
    digest = _digest(BUILD)
    if (
        _stack() is not None
        and _DEPLOYED_DIGEST.exists()
        and json.loads(_DEPLOYED_DIGEST.read_text()) == digest
    ):
        return False
    client("s3").create_bucket(Bucket=_ARTIFACT_BUCKET)
    with DEPLOY_LOG.open("w") as log:
        done = subprocess.run(
            [
                *("sam", "deploy", "--config-file", str(ROOT / "samconfig.toml")),
                *("--template-file", str(BUILD / "template.yaml")),
                *("--s3-bucket", _ARTIFACT_BUCKET, "--region", REGION),
                "--parameter-overrides",
                _PARAMETERS.format(architecture()),
            ],
            cwd=ROOT,
            env=aws_environment(server.endpoint) | {"SAM_CLI_POLL_DELAY": "0.5"},
            stdout=log,
            stderr=subprocess.STDOUT,
            check=False,
        )
    if done.returncode:
        tail = "\n".join(DEPLOY_LOG.read_text().splitlines()[-25:])
        raise LocalRunFailed(f"sam deploy failed. The last 25 lines of {DEPLOY_LOG}:\n{tail}")
    _DEPLOYED_DIGEST.write_text(json.dumps(digest))
    return True


def outputs() -> dict[str, str]:
    """Return the outputs of the deployed stack by name."""
    stack = _stack()
    if stack is None:
        raise LocalRunFailed(f"The stack {STACK_NAME} is not deployed; see {DEPLOY_LOG}.")
    return {output["OutputKey"]: output["OutputValue"] for output in stack["Outputs"]}


def base_url(server: Server) -> str:
    """Return the base address of the API on this machine."""
    return f"{server.endpoint}/_aws/execute-api/{outputs()['ApiId']}/api/v1"


def operator_environment() -> dict[str, str]:
    """Return the environment variables with which `operations` accesses the deployed stack.

    They contain no role: an operator uses the default credentials.
    """
    named = outputs()
    return {
        "STACK_NAME": STACK_NAME,
        "CONTROL_TABLE": named["ControlTable"],
        "OUTBOX_TABLE": named["OutboxTable"],
        "IMPORT_BUCKET": named["ImportBucket"],
        "WEBHOOK_QUEUE_URL": named["WebhookQueueUrl"],
        "SIGNING_KEY_IDS": named["SigningKeyId"],
        "SECRET_HASH_KEY_ID": named["SecretHashKeyId"],
    }


def _stack() -> dict[str, Any] | None:
    try:
        answer = client("cloudformation").describe_stacks(StackName=STACK_NAME)
    except ClientError:
        return None
    stack: dict[str, Any] = answer["Stacks"][0]
    return stack if stack["StackStatus"] in {"CREATE_COMPLETE", "UPDATE_COMPLETE"} else None


def _digest(folder: Path) -> str:
    total = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            total.update(str(path.relative_to(folder)).encode())
            total.update(hashlib.file_digest(path.open("rb"), "sha256").digest())
    return total.hexdigest()

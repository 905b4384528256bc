"""`sam deploy` of the built template to the emulator, and the outputs of the stack."""

import hashlib
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from botocore.exceptions import ClientError

from local.recovery import DIGEST_TAG, deployment_step
from local.server import LocalRunFailed, Server
from local.settings import (
    BUILD,
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
    "Architecture={} WebhookConcurrency=5 WebhookLocalhost=true WebhookRetryDelays=0,1,1"
    " DocsBase={}"
    " Dashboard=false"  # the emulator has no saved queries
)
_WAIT_SECONDS = 600


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
    while (step := deployment_step(_status(), _deployed_digest(), digest)) != "deploy":
        if step == "keep":
            return False
        _wait_for_end()
    if not _artifact_bucket_exists():
        client("s3").create_bucket(Bucket=_ARTIFACT_BUCKET)
    with DEPLOY_LOG.open("w") as log:
        done = subprocess.run(
            [
                *("sam", "deploy", "--config-file", str(ROOT / "samconfig.toml")),
                *("--template-file", str(BUILD / "template.yaml")),
                *("--s3-bucket", _ARTIFACT_BUCKET, "--region", REGION),
                "--parameter-overrides",
                _PARAMETERS.format(architecture(), server.endpoint),
                *("--tags", f"{DIGEST_TAG}={digest}"),
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
    if deployment_step(_status(), _deployed_digest(), digest) != "keep":
        raise LocalRunFailed(
            f"sam deploy ended without an error, but the stack is {_status()} and was not deployed"
            f" from {BUILD}; see {DEPLOY_LOG}."
        )
    return True


def first_start_was_cut_off() -> bool:
    """Return whether the data is that of a first start that did not complete.

    The mark is a tag of the artifact bucket, so that it is saved and lost with the data.
    """
    return _artifact_bucket_exists() and not _artifact_bucket_tags()


def mark_first_start_complete() -> None:
    """Record that the demo tenants and the sample data are complete."""
    client("s3").put_bucket_tagging(
        Bucket=_ARTIFACT_BUCKET, Tagging={"TagSet": [{"Key": "FirstStart", "Value": "complete"}]}
    )


def _artifact_bucket_exists() -> bool:
    buckets = client("s3").list_buckets()["Buckets"]
    return _ARTIFACT_BUCKET in {bucket["Name"] for bucket in buckets}


def _artifact_bucket_tags() -> Sequence[Any]:
    try:
        answer = client("s3").get_bucket_tagging(Bucket=_ARTIFACT_BUCKET)
    except ClientError as error:
        if error.response["Error"]["Code"] == "NoSuchTagSet":
            return ()
        raise
    tags: Sequence[Any] = answer["TagSet"]
    return tags


def outputs() -> dict[str, str]:
    """Return the outputs of the deployed stack by name."""
    return _outputs(_deployed_stack())


def base_url(server: Server) -> str:
    """Return the base address of the API on this machine."""
    return f"{server.endpoint}/_aws/execute-api/{outputs()['ApiId']}/api/v1"


def operator_environment() -> dict[str, str]:
    """Return the environment variables with which `operations` accesses the deployed stack.

    They contain no role: an operator uses the default credentials.
    """
    stack = _deployed_stack()
    named = _outputs(stack)
    return {
        "STACK_NAME": STACK_NAME,
        "STACK_ID": stack["StackId"],
        "CONTROL_TABLE": named["ControlTable"],
        "OUTBOX_TABLE": named["OutboxTable"],
        "IMPORT_BUCKET": named["ImportBucket"],
        "WEBHOOK_QUEUE_URL": named["WebhookQueueUrl"],
        "SIGNING_KEY_IDS": named["SigningKeyId"],
        "SECRET_HASH_KEY_ID": named["SecretHashKeyId"],
        "SEALING_KEY_ID": named["SealingKeyId"],
    }


def _deployed_stack() -> dict[str, Any]:
    stack = _stack()
    if stack is None or "Outputs" not in stack:
        raise LocalRunFailed(f"The stack {STACK_NAME} is not deployed; see {DEPLOY_LOG}.")
    return stack


def _outputs(stack: dict[str, Any]) -> dict[str, str]:
    return {output["OutputKey"]: output["OutputValue"] for output in stack["Outputs"]}


def _stack() -> dict[str, Any] | None:
    try:
        answer = client("cloudformation").describe_stacks(StackName=STACK_NAME)
    except ClientError:
        return None
    stack: dict[str, Any] = answer["Stacks"][0]
    return stack


def _status() -> str | None:
    stack = _stack()
    return stack["StackStatus"] if stack else None


def _deployed_digest() -> str | None:
    stack = _stack() or {}
    return {tag["Key"]: tag["Value"] for tag in stack.get("Tags", [])}.get(DIGEST_TAG)


def _wait_for_end() -> None:
    """Wait until no deployment is in progress; one of a killed run ends by itself."""
    deadline = time.monotonic() + _WAIT_SECONDS
    while (_status() or "").endswith("_IN_PROGRESS"):
        if time.monotonic() > deadline:
            raise LocalRunFailed(
                f"The stack is {_status()} for {_WAIT_SECONDS} s. Restart it: make stop run"
            )
        time.sleep(0.5)


def _digest(folder: Path) -> str:
    total = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            total.update(str(path.relative_to(folder)).encode())
            total.update(hashlib.file_digest(path.open("rb"), "sha256").digest())
    return total.hexdigest()

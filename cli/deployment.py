"""The deployment on which a command operates."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError, NoRegionError

from shared.kernel import aws

LOCAL_STACK = Path(".local/stack.json")
"""Written by `make run`."""

_LOCAL_CREDENTIALS = Path(".local/credentials")
"""The access key of the local run, written by `make run`."""

_LOCAL_REGION = "us-east-1"

_OTHER_CREDENTIALS = (
    "AWS_PROFILE",
    "AWS_DEFAULT_PROFILE",
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
)
"""Environment variables that precede the file of credentials."""

_ENVIRONMENT = {
    "ControlTable": "CONTROL_TABLE",
    "OutboxTable": "OUTBOX_TABLE",
    "SigningKeyId": "SIGNING_KEY_IDS",
    "SecretHashKeyId": "SECRET_HASH_KEY_ID",
    "ImportQueueUrl": "IMPORT_QUEUE_URL",
    "ImportDeadLettersUrl": "IMPORT_DEAD_LETTERS_URL",
    "SealingKeyId": "SEALING_KEY_ID",
    "WebhookQueueUrl": "WEBHOOK_QUEUE_URL",
    "WebhookSlowQueueUrl": "WEBHOOK_SLOW_QUEUE_URL",
    "WebhookDeadLettersUrl": "WEBHOOK_DEAD_LETTERS_URL",
    "RelayFailuresUrl": "RELAY_FAILURES_URL",
    "ImportBucket": "IMPORT_BUCKET",
    "ImportWorkBucket": "IMPORT_WORK_BUCKET",
    "TenantImportRoleArn": "TENANT_IMPORT_ROLE_ARN",
    "TableUnits": "TABLE_UNITS",
}
"""Output of the stack → environment variable of `shared.kernel.config`."""


class DeploymentNotFound(Exception):
    """The stack does not exist or cannot be read; the message says what to do."""


@dataclass(frozen=True, slots=True)
class StackTarget:
    """The stack to connect to, from the command line; None means the default of the AWS SDK."""

    stack: str
    region: str | None = None
    endpoint_url: str | None = None
    local: bool = False


@dataclass(frozen=True, slots=True)
class Deployment:
    """A deployment whose outputs `shared.kernel.config` reads."""

    address: str
    """Base address; contains `{slug}` if each tenant has its own host."""
    api: str
    """Id of the API."""
    shared_addresses: frozenset[str]
    """Addresses that tenants can share: that of the API itself, unless it is switched off."""
    schema_version: int
    """The version of the schema that the deployed release has."""

    def first_address_of(self, slug: str) -> str:
        """Return the address at which a new tenant is served at once.

        It needs no DNS record of the operator, unless the address of the API is switched off.
        """
        if "{slug}" not in self.address:
            return self.address
        return min(self.shared_addresses, default=self.address.replace("{slug}", slug))

    def host_of(self, slug: str) -> str | None:
        """Return the host of a tenant in the deployment's domain; None without a domain."""
        if "{slug}" not in self.address:
            return None
        return self.address.removeprefix("https://").partition("/")[0].replace("{slug}", slug)


def connect(target: StackTarget) -> Deployment:
    """Read the outputs of the stack into the environment of `shared.kernel.config`.

    Raises:
        DeploymentNotFound: The stack does not exist, cannot be read, or lacks an output.
    """
    local_address = _use_local() if target.local else None
    if target.region:
        os.environ["AWS_REGION"] = os.environ["AWS_DEFAULT_REGION"] = target.region
    if target.endpoint_url:
        os.environ["AWS_ENDPOINT_URL"] = target.endpoint_url
    stack = _describe(target)
    outputs = {each["OutputKey"]: each["OutputValue"] for each in stack.get("Outputs", ())}
    missing = sorted({*_ENVIRONMENT, "ApiUrl", "ApiId", "SchemaVersion"} - outputs.keys())
    if missing:
        raise DeploymentNotFound(
            f"The stack {target.stack} has no output {', '.join(missing)}. Check --stack, or "
            "deploy this version first."
        )
    os.environ |= {"STACK_NAME": target.stack, "STACK_ID": stack["StackId"]}
    os.environ |= {variable: outputs[name] for name, variable in _ENVIRONMENT.items()}
    address = local_address or outputs["ApiUrl"]
    own = {address, outputs["ApiUrl"]}
    if outputs.get("DefaultAddress") != "false":
        own.add(_address_of_api(stack["StackId"], outputs["ApiId"]))
    shared = frozenset(each for each in own if "{slug}" not in each)
    return Deployment(address, outputs["ApiId"], shared, int(outputs["SchemaVersion"]))


def _address_of_api(stack_id: str, api: str) -> str:
    """Return the address that API Gateway gives an API, next to its custom domains."""
    _, partition, _, region, *_ = stack_id.split(":")
    suffix = "amazonaws.com.cn" if partition == "aws-cn" else "amazonaws.com"
    return f"https://{api}.execute-api.{region}.{suffix}/api/v1"


def _use_local() -> str:
    """Set the AWS environment for the stack on this machine; return its base address."""
    try:
        stack = json.loads(LOCAL_STACK.read_text())
        endpoint, address = str(stack["endpoint_url"]), str(stack["base_url"])
    except (OSError, ValueError, KeyError) as error:
        raise DeploymentNotFound(
            f"There is no local stack: {LOCAL_STACK} cannot be read. Start one with `make run`."
        ) from error
    os.environ |= {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_REGION": _LOCAL_REGION,
        "AWS_DEFAULT_REGION": _LOCAL_REGION,
        "AWS_SHARED_CREDENTIALS_FILE": str(_LOCAL_CREDENTIALS),
    }
    for name in _OTHER_CREDENTIALS:
        os.environ.pop(name, None)
    return address


def _describe(target: StackTarget) -> Mapping[str, Any]:
    stack = target.stack
    try:
        (found,) = aws.client("cloudformation").describe_stacks(StackName=stack)["Stacks"]
    except NoRegionError as error:
        raise DeploymentNotFound(
            "There is no Region. Name that of the stack with --region, or set STOWAGE_REGION."
        ) from error
    except ClientError as error:
        reason = error.response["Error"].get("Message", str(error))
        if "does not exist" in reason:
            region = aws.client("cloudformation").meta.region_name
            raise DeploymentNotFound(
                f"There is no stack {stack} in {region}. Name another stack with --stack "
                "(STOWAGE_STACK), or another Region with --region (STOWAGE_REGION)."
            ) from error
        raise DeploymentNotFound(f"The stack {stack} cannot be read: {reason}") from error
    except BotoCoreError as error:
        if target.local:
            raise DeploymentNotFound(
                "The local stack is not running. Start it with `make run`."
            ) from error
        raise DeploymentNotFound(
            f"The stack {stack} cannot be read, because AWS cannot be reached: {error}"
        ) from error
    description: Mapping[str, Any] = found
    return description

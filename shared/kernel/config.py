"""The configuration of a deployment, read once from environment variables.

Modules can be imported without an environment (tests, OpenAPI generation); the first use reads it.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any


def _is_true(text: str) -> bool:
    return text == "true"


def _ids(text: str) -> tuple[str, ...]:
    return tuple(filter(None, text.split(",")))


def _setting(
    name: str, default: str | None = "", *, parse: Callable[[str], object] = str
) -> Any:  # it stands for a field of any type
    """Return the field with the value of an environment variable, required without a default."""
    return field(
        default_factory=lambda: parse(
            os.environ[name] if default is None else os.environ.get(name, default)
        )
    )


@dataclass(frozen=True, slots=True)
class Config:
    """Settings of one deployment; every value comes from `template.yaml`."""

    stack: str = _setting("STACK_NAME", None)
    """Name of the stack; prefix of every resource."""
    stack_id: str = _setting("STACK_ID")
    """ARN of the stack; only operators have it. A later stack of the same name has another one."""
    control_table: str = _setting("CONTROL_TABLE", None)
    outbox_table: str = _setting("OUTBOX_TABLE")
    table_units: int = _setting("TABLE_UNITS", "0", parse=int)
    """Read units per second, and write units, that DynamoDB may serve of a tenant's table and of
    each of its indexes, for each request per minute of the tenant; 0: no maximum. Only operators
    have it."""
    tenant_data_role: str = _setting("TENANT_DATA_ROLE_ARN")
    """ARN of the role for data access, narrowed to one tenant; empty: the function's own role."""
    data_access: str = _setting("DATA_ACCESS", "warehouse")
    """What sessions may do with the data of their tenant, see `shared.identity.tenancy.access`."""
    tenant_import_role: str = _setting("TENANT_IMPORT_ROLE_ARN")
    """ARN of the role for what an import of a tenant writes; only operators have it."""
    signing_keys: tuple[str, ...] = _setting("SIGNING_KEY_IDS", parse=_ids)
    """KMS key ids that verify tokens; the first one signs."""
    docs_base: str = _setting(
        "DOCS_BASE", "https://docs.stowage.example", parse=lambda text: text.rstrip("/")
    )
    """Address of the documentation, without a trailing slash."""
    upgrade_url: str = _setting("UPGRADE_URL", "https://stowage.example/plans")
    """Address where a company changes its plan."""
    secret_hash_key: str = _setting("SECRET_HASH_KEY_ID")
    """Id of the KMS key (HMAC) that hashes client secrets."""
    import_bucket: str = _setting("IMPORT_BUCKET")
    """Bucket for uploaded and dropped import files, one prefix per tenant; empty: none exists."""
    import_work_bucket: str = _setting("IMPORT_WORK_BUCKET")
    """Bucket for the files that imports write: copies of files, checked rows, reports."""
    import_queue: str = _setting("IMPORT_QUEUE_URL")
    """URL of the queue of imports for the worker."""
    import_dead_letters: str = _setting("IMPORT_DEAD_LETTERS_URL")
    """URL of the dead-letter queue of imports."""
    webhook_queue: str = _setting("WEBHOOK_QUEUE_URL")
    """URL of the queue of webhook deliveries."""
    webhook_slow_queue: str = _setting("WEBHOOK_SLOW_QUEUE_URL")
    """URL of the queue of deliveries to slow endpoints."""
    webhook_dead_letters: str = _setting("WEBHOOK_DEAD_LETTERS_URL")
    """URL of the dead-letter queue of webhook deliveries, from both queues."""
    relay_failures: str = _setting("RELAY_FAILURES_URL")
    """URL of the queue of stream batches that the relay gave up; only operators have it."""
    webhook_delays: tuple[int, ...] = _setting(
        "WEBHOOK_RETRY_DELAYS", "0", parse=lambda text: tuple(map(int, text.split(",")))
    )
    """Seconds before each attempt of a delivery; its length is the number of attempts."""
    webhook_schedules: str = _setting("WEBHOOK_SCHEDULES")
    """Name of the schedule group of EventBridge Scheduler for attempts that wait for long."""
    webhook_schedule_role: str = _setting("WEBHOOK_SCHEDULE_ROLE_ARN")
    """ARN of the role with which EventBridge Scheduler sends the messages of these attempts."""
    webhook_localhost: bool = _setting("WEBHOOK_LOCALHOST", parse=_is_true)
    """Whether webhooks may go to `http://localhost:PORT`; only on a developer's machine."""
    sealing_key: str = _setting("SEALING_KEY_ID")
    """Id of the KMS key that encrypts stored secrets that must be read again."""

    @property
    def is_local(self) -> bool:
        """Whether the stack runs on a developer's machine, which decides how long requests take."""
        return self.webhook_localhost

    def tenant_table(self, slug: str) -> str:
        """Return the name that a tenant's table gets when the tenant is created.

        A restore replaces the table by one of another name, which the tenant's item has.
        """
        return f"{self.stack}-tenant-{slug}"


@cache
def config() -> Config:
    """Return the configuration; the environment is read once per execution environment."""
    return Config()

"""The configuration of a deployment, read once from environment variables.

Modules can be imported without an environment (tests, OpenAPI generation); the first use reads it.
"""

import os
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True, slots=True)
class Config:
    """Settings of one deployment; every value comes from `template.yaml`."""

    stack: str
    """Name of the stack; prefix of every resource."""
    stack_id: str
    """ARN of the stack; only operators have it. A later stack of the same name has another one."""
    control_table: str
    outbox_table: str
    tenant_data_role: str
    """ARN of the role for data access, narrowed to one tenant; empty: the function's own role."""
    changes_users: bool
    """Whether the function may change users, roles and administrators."""
    tenant_import_role: str
    """ARN of the role for what an import of a tenant writes; only operators have it."""
    signing_keys: tuple[str, ...]
    """KMS key ids that verify tokens; the first one signs."""
    docs_base: str
    """Address of the documentation, without a trailing slash."""
    upgrade_url: str
    """Address where a company changes its plan."""
    secret_hash_key: str
    """Id of the KMS key (HMAC) that hashes client secrets."""
    import_bucket: str
    """Bucket for uploaded and dropped import files, one prefix per tenant; empty: none exists."""
    import_work_bucket: str
    """Bucket for the files that imports write: copies of files, checked rows, reports."""
    import_queue: str
    """URL of the queue of imports for the worker."""
    import_dead_letters: str
    """URL of the dead-letter queue of imports."""
    webhook_queue: str
    """URL of the queue of webhook deliveries."""
    webhook_slow_queue: str
    """URL of the queue of deliveries to slow endpoints."""
    webhook_dead_letters: str
    """URL of the dead-letter queue of webhook deliveries, from both queues."""
    relay_failures: str
    """URL of the queue of stream batches that the relay gave up; only operators have it."""
    webhook_delays: tuple[int, ...]
    """Seconds before each attempt of a delivery; its length is the number of attempts."""
    webhook_schedules: str
    """Name of the schedule group of EventBridge Scheduler for attempts that wait for long."""
    webhook_schedule_role: str
    """ARN of the role with which EventBridge Scheduler sends the messages of these attempts."""
    webhook_localhost: bool
    """Whether webhooks may go to `http://localhost:PORT`; only on a developer's machine."""
    sealing_key: str
    """Id of the KMS key that encrypts stored secrets that must be read again."""

    def tenant_table(self, slug: str) -> str:
        """Return the name that a tenant's table gets when the tenant is created.

        A restore replaces the table by one of another name, which the tenant's item has.
        """
        return f"{self.stack}-tenant-{slug}"


@cache
def config() -> Config:
    """Return the configuration; the environment is read once per execution environment."""
    env = os.environ
    return Config(
        stack=env["STACK_NAME"],
        stack_id=env.get("STACK_ID", ""),
        control_table=env["CONTROL_TABLE"],
        outbox_table=env.get("OUTBOX_TABLE", ""),
        tenant_data_role=env.get("TENANT_DATA_ROLE_ARN", ""),
        changes_users=env.get("CHANGES_USERS", "") == "true",
        tenant_import_role=env.get("TENANT_IMPORT_ROLE_ARN", ""),
        signing_keys=tuple(key for key in env.get("SIGNING_KEY_IDS", "").split(",") if key),
        docs_base=env.get("DOCS_BASE", "https://docs.stowage.example").rstrip("/"),
        upgrade_url=env.get("UPGRADE_URL", "https://stowage.example/plans"),
        secret_hash_key=env.get("SECRET_HASH_KEY_ID", ""),
        import_bucket=env.get("IMPORT_BUCKET", ""),
        import_work_bucket=env.get("IMPORT_WORK_BUCKET", ""),
        import_queue=env.get("IMPORT_QUEUE_URL", ""),
        import_dead_letters=env.get("IMPORT_DEAD_LETTERS_URL", ""),
        webhook_queue=env.get("WEBHOOK_QUEUE_URL", ""),
        webhook_slow_queue=env.get("WEBHOOK_SLOW_QUEUE_URL", ""),
        webhook_dead_letters=env.get("WEBHOOK_DEAD_LETTERS_URL", ""),
        relay_failures=env.get("RELAY_FAILURES_URL", ""),
        webhook_delays=tuple(
            int(seconds) for seconds in env.get("WEBHOOK_RETRY_DELAYS", "0").split(",")
        ),
        webhook_schedules=env.get("WEBHOOK_SCHEDULES", ""),
        webhook_schedule_role=env.get("WEBHOOK_SCHEDULE_ROLE_ARN", ""),
        webhook_localhost=env.get("WEBHOOK_LOCALHOST", "") == "true",
        sealing_key=env.get("SEALING_KEY_ID", ""),
    )

"""What the deployment tells the code: names and addresses, read from the environment once.

Modules import without any environment (tests, OpenAPI generation); the first use reads it.
"""

import os
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True, slots=True)
class Config:
    """Settings of one deployment; every value comes from `template.yaml`."""

    stack: str
    """Name of the stack; prefix of every resource."""
    control_table: str
    outbox_table: str
    tenant_data_role: str
    """Role that is narrowed to one tenant for data access; empty: use the ambient credentials."""
    signing_keys: tuple[str, ...]
    """KMS key ids that verify tokens; the first one signs."""
    docs_base: str
    """Where the error pages live, without a trailing slash."""
    upgrade_url: str
    secret_hash_key: str
    """KMS key id (HMAC) under which client secrets are hashed."""
    import_bucket: str
    """Bucket in which others leave import files, one prefix per tenant; empty: none is deployed."""
    import_work_bucket: str
    """Bucket of what imports write for themselves: copies of files, checked rows, reports."""
    import_queue: str
    """Address of the queue of imports that wait for the worker."""
    webhook_queue: str
    """Address of the queue of deliveries."""
    webhook_slow_queue: str
    """Address of the queue of deliveries to endpoints that take their time."""
    webhook_delays: tuple[int, ...]
    """Seconds before each attempt of a delivery; there are as many attempts."""
    webhook_localhost: bool
    """Whether webhooks may also go to `http://localhost:PORT`: on a developer's machine alone."""
    sealing_key: str
    """KMS key id under which secrets are stored that have to be read again."""

    def tenant_table(self, slug: str) -> str:
        """Name of the table that holds one tenant's data."""
        return f"{self.stack}-tenant-{slug}"


@cache
def config() -> Config:
    """Read the environment, once per execution environment."""
    env = os.environ
    return Config(
        stack=env["STACK_NAME"],
        control_table=env["CONTROL_TABLE"],
        outbox_table=env.get("OUTBOX_TABLE", ""),
        tenant_data_role=env.get("TENANT_DATA_ROLE_ARN", ""),
        signing_keys=tuple(key for key in env.get("SIGNING_KEY_IDS", "").split(",") if key),
        docs_base=env.get("DOCS_BASE", "https://docs.stowage.example").rstrip("/"),
        upgrade_url=env.get("UPGRADE_URL", "https://stowage.example/plans"),
        secret_hash_key=env.get("SECRET_HASH_KEY_ID", ""),
        import_bucket=env.get("IMPORT_BUCKET", ""),
        import_work_bucket=env.get("IMPORT_WORK_BUCKET", ""),
        import_queue=env.get("IMPORT_QUEUE_URL", ""),
        webhook_queue=env.get("WEBHOOK_QUEUE_URL", ""),
        webhook_slow_queue=env.get("WEBHOOK_SLOW_QUEUE_URL", ""),
        webhook_delays=tuple(
            int(seconds) for seconds in env.get("WEBHOOK_RETRY_DELAYS", "0").split(",")
        ),
        webhook_localhost=env.get("WEBHOOK_LOCALHOST", "") == "true",
        sealing_key=env.get("SEALING_KEY_ID", ""),
    )

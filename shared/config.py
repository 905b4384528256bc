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
    )

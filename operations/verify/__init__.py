"""Verification of a tenant's table: what it derives, compared with what it is derived from."""

from operations.verify.findings import Finding, Findings
from operations.verify.run import verify_table, verify_tenant

__all__ = ["Finding", "Findings", "verify_table", "verify_tenant"]

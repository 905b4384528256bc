"""Import of a tenant from an export of another deployment, in steps that can each be repeated.

1. The export is checked (`reading`): its manifest, the digest of each file, what this release knows
   of it, and each line (`line_checks`, `contents`): nothing may belong to another tenant.
2. The tenant is registered (`run`) in the state `creating`, in which requests for it are refused,
   with the digest of the export: only the same export can go on. Plan, modules and request limit
   are those that the operator has confirmed (`terms`). Then its table is created.
3. Items, files, clients and relayed events are written (`writing`), with credentials that reach
   only what belongs to the tenant. Secrets are sealed by the key of this deployment. Every write
   puts an exact item, so that another run may put it again.
4. Everything is read again and compared with the export, item by item (`comparing`).
5. The tenant becomes active. Then the events that were not relayed are written, which relays them.

Not written are files of the import bucket: each would start an import.
"""

from operations.tenant_import.reading import TenantExport, open_export
from operations.tenant_import.run import ImportedTenant, import_tenant
from operations.tenant_import.terms import Terms

__all__ = ["ImportedTenant", "TenantExport", "Terms", "import_tenant", "open_export"]

"""The operations of the API with their scopes and permissions, written by hand.

The table is independent of the declarations of the routes, which tests compare with it.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Access:
    """The scope for integration clients and the permission for users; None: any valid token.

    `others` are permissions of which each is enough, too.
    """

    scope: str | None
    permission: str | None
    others: tuple[str, ...] = ()


_ANY = (
    "inventory.manage", "entries.manage", "exits.manage", "imports.run", "transfer-orders.manage",
    "users.manage",
)  # fmt: skip


def _read(text: str) -> dict[str, Access]:
    """Parse lines of `METHOD path scope permission`; `-` means that a valid token is enough.

    Several permissions are separated by `|`: each is enough. `any` is each but approvals.grant.
    """
    promises = {}
    for line in text.strip().splitlines():
        method, path, scope, permission = line.split()
        first, *others = _ANY if permission == "any" else permission.split("|")
        named = None if first == "-" else first
        promises[f"{method} {path}"] = Access(None if scope == "-" else scope, named, tuple(others))
    return promises


DOCUMENTED: Mapping[str, Access] = _read("""
    GET     /warehouses                       warehouses:read   -
    GET     /warehouses/{id}                  warehouses:read   -
    GET     /warehouses/{id}/layout           warehouses:read   -
    GET     /warehouse-positions              warehouses:read   -
    GET     /warehouse-positions/{id}         warehouses:read   -
    GET     /warehouse-positions/{id}/label   warehouses:read   -
    GET     /warehouse-positions/labels       warehouses:read   -
    GET     /receipts                         receipts:read     -
    GET     /receipts/{id}                    receipts:read     -
    GET     /receipts/{id}/goods              receipts:read     -
    GET     /pickings                         pickings:read     -
    GET     /pickings/{id}                    pickings:read     -
    GET     /pickings/{id}/goods              pickings:read     -
    GET     /transfers                        transfers:read    -
    GET     /transfers/{id}                   transfers:read    -
    GET     /transfers/{id}/goods             transfers:read    -
    GET     /entry-documents                  receipts:read     -
    POST    /entry-documents                  receipts:write    entries.manage
    GET     /entry-documents/{id}             receipts:read     -
    GET     /exit-documents                   pickings:read     -
    POST    /exit-documents                   pickings:write    exits.manage
    GET     /exit-documents/{id}              pickings:read     -
    GET     /products                         products:read     -
    POST    /products                         products:write    inventory.manage
    GET     /products/{id}                    products:read     -
    GET     /products/{id}/label              products:read     -
    GET     /products/labels                  products:read     -
    PUT     /products/{id}                    products:write    inventory.manage
    PATCH   /products/{id}                    products:write    inventory.manage
    DELETE  /products/{id}                    products:write    inventory.manage
    GET     /product-categories               products:read     -
    GET     /product-categories/{id}          products:read     -
    GET     /clients                          clients:read      -
    POST    /clients                          clients:write     exits.manage
    GET     /clients/{id}                     clients:read      -
    PUT     /clients/{id}                     clients:write     exits.manage
    PATCH   /clients/{id}                     clients:write     exits.manage
    DELETE  /clients/{id}                     clients:write     exits.manage
    GET     /providers                        providers:read    -
    POST    /providers                        providers:write   entries.manage
    GET     /providers/{id}                   providers:read    -
    PUT     /providers/{id}                   providers:write   entries.manage
    PATCH   /providers/{id}                   providers:write   entries.manage
    DELETE  /providers/{id}                   providers:write   entries.manage
    GET     /stocks                           stocks:read       -
    POST    /transfer-orders                  transfers:write   transfer-orders.manage
    GET     /waves/{id}                       pickings:read     exits.manage
    POST    /imports                          products:write    imports.run
    GET     /imports/{id}                     products:read     imports.run
    POST    /imports/{id}/commit              products:write    imports.run
    GET     /webhooks                         webhooks:manage   users.manage
    POST    /webhooks                         webhooks:manage   users.manage
    GET     /webhooks/{id}                    webhooks:manage   users.manage
    PATCH   /webhooks/{id}                    webhooks:manage   users.manage
    DELETE  /webhooks/{id}                    webhooks:manage   users.manage
""")
"""The documented operation table; an undocumented permission is that of the route group."""

IMPLIED: Mapping[str, Access] = _read("""
    POST    /warehouses                       warehouses:write  inventory.manage
    PUT     /warehouses/{id}                  warehouses:write  inventory.manage
    PATCH   /warehouses/{id}                  warehouses:write  inventory.manage
    DELETE  /warehouses/{id}                  warehouses:write  inventory.manage
    PUT     /warehouses/{id}/layout           warehouses:write  inventory.manage
    GET     /warehouses/{id}/layout.svg       warehouses:read   -
    POST    /warehouse-positions              warehouses:write  inventory.manage
    POST    /warehouse-positions/bulk         warehouses:write  inventory.manage
    PUT     /warehouse-positions/{id}         warehouses:write  inventory.manage
    PATCH   /warehouse-positions/{id}         warehouses:write  inventory.manage
    DELETE  /warehouse-positions/{id}         warehouses:write  inventory.manage
    GET     /imports                          products:read     imports.run
    POST    /imports/uploads                  products:write    imports.run
    GET     /imports/templates/{kind}         products:read     imports.run
    GET     /imports/{id}/error-report        products:read     imports.run
    POST    /imports/{id}/cancel              products:write    imports.run
    GET     /pick-faces                       warehouses:read   -
    GET     /pick-faces/{id}                  warehouses:read   -
    POST    /pick-faces                       warehouses:write  inventory.manage
    DELETE  /pick-faces/{id}                  warehouses:write  inventory.manage
    POST    /product-categories               products:write    inventory.manage
    PUT     /product-categories/{id}          products:write    inventory.manage
    PATCH   /product-categories/{id}          products:write    inventory.manage
    DELETE  /product-categories/{id}          products:write    inventory.manage
    POST    /entry-documents/{id}/close       receipts:write    entries.manage
    POST    /exit-documents/{id}/close        pickings:write    exits.manage
    POST    /exit-documents/{id}/dispatch     pickings:write    exits.manage
    PATCH   /entry-documents/{id}             receipts:write    entries.manage
    PATCH   /exit-documents/{id}              pickings:write    exits.manage
    POST    /receipts                         receipts:write    entries.manage
    POST    /receipts/{id}/start              receipts:write    entries.manage
    POST    /receipts/{id}/lines              receipts:write    entries.manage
    POST    /receipts/{id}/lines/undo         receipts:write    entries.manage
    POST    /receipts/{id}/finalize           receipts:write    entries.manage
    POST    /receipts/{id}/cancel             receipts:write    entries.manage
    POST    /receipts/{id}/revert             receipts:write    entries.manage
    POST    /receipts/{id}/synchronize        receipts:write    entries.manage
    POST    /pickings                         pickings:write    exits.manage
    POST    /pickings/{id}/start              pickings:write    exits.manage
    POST    /pickings/{id}/allocate           pickings:write    exits.manage
    POST    /pickings/{id}/picks              pickings:write    exits.manage
    POST    /pickings/{id}/picks/undo         pickings:write    exits.manage
    POST    /pickings/{id}/finalize           pickings:write    exits.manage
    POST    /pickings/{id}/cancel             pickings:write    exits.manage
    POST    /pickings/{id}/revert             pickings:write    exits.manage
    POST    /pickings/{id}/synchronize        pickings:write    exits.manage
    GET     /rfid-validations                 pickings:read     -
    POST    /rfid-validations                 pickings:write    exits.manage
    GET     /rfid-validations/{id}            pickings:read     -
    GET     /packing-orders                   pickings:read     -
    POST    /packing-orders                   pickings:write    exits.manage
    GET     /packing-orders/{id}              pickings:read     -
    GET     /packing-orders/{id}/goods        pickings:read     -
    POST    /packing-orders/{id}/complete     pickings:write    exits.manage
    POST    /packing-orders/{id}/cancel       pickings:write    exits.manage
    POST    /packing-orders/{id}/handling-units  pickings:write  exits.manage
    GET     /packing-orders/{id}/packing-slip.pdf  pickings:read  -
    GET     /handling-units                   pickings:read     -
    GET     /handling-units/{id}              pickings:read     -
    GET     /handling-units/{id}/label        pickings:read     -
    POST    /handling-units/{id}/contents     pickings:write    exits.manage
    POST    /handling-units/{id}/contents/remove  pickings:write  exits.manage
    POST    /handling-units/{id}/close        pickings:write    exits.manage
    POST    /handling-units/{id}/reopen       pickings:write    exits.manage
    DELETE  /handling-units/{id}              pickings:write    exits.manage
    POST    /transfers                        transfers:write   inventory.manage
    DELETE  /transfers/{id}                   transfers:write   inventory.manage
    POST    /transfers/{id}/execute           transfers:write   inventory.manage
    POST    /transfers/{id}/acknowledge       transfers:write   inventory.manage
    GET     /products/{id}/packaging          products:read     -
    PUT     /products/{id}/packaging          products:write    inventory.manage
    GET     /stock-levels                     stocks:read       -
    GET     /changes                          changes:read      -
    GET     /changes/latest                   changes:read      -
    POST    /reconciliations                  stocks:read       inventory.manage
    POST    /reconciliations/files            stocks:read       inventory.manage
    GET     /reconciliations/{id}             stocks:read       inventory.manage
    GET     /exports                          changes:read      -
    POST    /exports                          changes:read      any
    GET     /exports/{id}                     changes:read      -
    POST    /exports/{id}/cancel              changes:read      any
    GET     /stock-movements                  stocks:read       -
    GET     /stock-movements/{id}             stocks:read       -
    POST    /stock-adjustments                stocks:write      inventory.manage
    GET     /transfer-orders                  transfers:read    -
    GET     /transfer-orders/{id}             transfers:read    -
    GET     /transfer-orders/{id}/goods       transfers:read    -
    POST    /transfer-orders/{id}/release     transfers:write   transfer-orders.manage
    POST    /transfer-orders/{id}/picks       transfers:write   transfer-orders.manage
    POST    /transfer-orders/{id}/picks/undo  transfers:write   transfer-orders.manage
    POST    /transfer-orders/{id}/finish-picking  transfers:write  transfer-orders.manage
    POST    /transfer-orders/{id}/dispatch    transfers:write   transfer-orders.manage
    POST    /transfer-orders/{id}/receive     transfers:write   transfer-orders.manage
    POST    /transfer-orders/{id}/close       transfers:write   transfer-orders.manage
    POST    /transfer-orders/{id}/cancel      transfers:write   transfer-orders.manage
    GET     /holds                            stocks:read       -
    POST    /holds                            stocks:write      exits.manage
    GET     /holds/{id}                       stocks:read       -
    POST    /holds/{id}/extend                stocks:write      exits.manage
    POST    /holds/{id}/release               stocks:write      exits.manage
    GET     /counts                           stocks:read       -
    POST    /counts                           stocks:write      inventory.manage
    GET     /counts/{id}                      stocks:read       -
    GET     /counts/{id}/goods                stocks:read       -
    POST    /counts/{id}/lines  stocks:write  inventory.manage|exits.manage|entries.manage
    POST    /counts/{id}/finish               stocks:write      inventory.manage
    POST    /counts/{id}/recount              stocks:write      inventory.manage
    POST    /counts/{id}/post                 stocks:write      inventory.manage
    POST    /counts/{id}/cancel               stocks:write      inventory.manage
    GET     /replenishments                   stocks:read       -
    GET     /putaway-suggestions              stocks:read       -
    POST    /replenishments                   transfers:write   inventory.manage
    GET     /approvals                        receipts:read     -
    GET     /approvals/{id}                   receipts:read     -
    POST    /approvals/{id}/grant             receipts:write    approvals.grant
    POST    /approvals/{id}/deny              receipts:write    approvals.grant
    GET     /returns                          receipts:read     -
    POST    /returns                          receipts:write    entries.manage
    GET     /returns/{id}                     receipts:read     -
    POST    /returns/{id}/lines               receipts:write    entries.manage
    POST    /returns/{id}/lines/undo          receipts:write    entries.manage
    POST    /returns/{id}/finish              receipts:write    entries.manage
    POST    /returns/{id}/dispositions        receipts:write    entries.manage
    POST    /returns/{id}/cancel              receipts:write    entries.manage
    GET     /waves                            pickings:read     exits.manage
    POST    /waves                            pickings:write    exits.manage
    POST    /waves/{id}/plan                  pickings:write    exits.manage
    POST    /waves/{id}/release               pickings:write    exits.manage
    POST    /waves/{id}/cancel                pickings:write    exits.manage
    POST    /waves/{id}/complete              pickings:write    exits.manage
    POST    /waves/{id}/close                 pickings:write    exits.manage
    POST    /webhooks/{id}/rotate-secret      webhooks:manage   users.manage
    POST    /webhooks/{id}/test               webhooks:manage   users.manage
    POST    /webhooks/{id}/recover            webhooks:manage   users.manage
    GET     /webhooks/{id}/deliveries         webhooks:manage   users.manage
    GET     /webhooks/{id}/deliveries/{delivery}  webhooks:manage  users.manage
    POST    /webhooks/{id}/deliveries/{delivery}/redeliver  webhooks:manage  users.manage
    GET     /users                            settings:manage   users.manage
    POST    /users                            settings:manage   users.manage
    GET     /users/{id}                       settings:manage   users.manage
    PATCH   /users/{id}                       settings:manage   users.manage
    DELETE  /users/{id}                       settings:manage   users.manage
    POST    /users/{id}/reset-password        settings:manage   users.manage
    POST    /users/{id}/password              settings:manage   users.manage
    POST    /users/{id}/totp                  settings:manage   users.manage
    POST    /users/{id}/totp/confirm          settings:manage   users.manage
    POST    /users/{id}/totp/recovery-codes   settings:manage   users.manage
    DELETE  /users/{id}/totp                  settings:manage   users.manage
    GET     /users/{id}/sessions              settings:manage   users.manage
    POST    /users/{id}/end-sessions          settings:manage   users.manage
    DELETE  /users/{id}/sessions/{session}    settings:manage   users.manage
    GET     /roles                            settings:manage   users.manage
    POST    /roles                            settings:manage   users.manage
    GET     /roles/{id}                       settings:manage   users.manage
    PATCH   /roles/{id}                       settings:manage   users.manage
    DELETE  /roles/{id}                       settings:manage   users.manage
    GET     /settings                         settings:manage   users.manage
    PATCH   /settings                         settings:manage   users.manage
    GET     /api-clients                      settings:manage   users.manage
    POST    /api-clients                      settings:manage   users.manage
    GET     /api-clients/{id}                 settings:manage   users.manage
    PATCH   /api-clients/{id}                 settings:manage   users.manage
    DELETE  /api-clients/{id}                 settings:manage   users.manage
    POST    /api-clients/{id}/rotate-secret   settings:manage   users.manage
    DELETE  /api-clients/{id}/previous-secret  settings:manage  users.manage
    GET     /audit-log                        settings:manage   users.manage
    GET     /request-log                      -                 users.manage
""")
"""Operations that the documented table omits and that other parts of the API require."""

REQUIRED_ACCESS: Mapping[str, Access] = {**DOCUMENTED, **IMPLIED}

MODULES = {
    "/transfer-orders": "transfer_orders_disabled",
    "/waves": "not_found",
    "/imports": "bulk_import_disabled",
}
"""First path segment → the error code when its module is disabled."""

FEATURES = {"/webhooks": "webhooks.enabled"}
"""First path segment → the plan feature without which it answers feature_not_in_plan."""

USERS_ONLY = {"POST /approvals/{id}/grant", "POST /approvals/{id}/deny"}
"""Operations that answer forbidden to a client, also with the scope: people decide."""

KEY_REQUIRED = {"POST /entry-documents", "POST /exit-documents"}
"""Operations that answer idempotency_key_required without an Idempotency-Key header."""

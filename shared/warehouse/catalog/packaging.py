"""Use cases of the packaging of products: weight, measures, GTINs and units of measure."""

from collections.abc import Iterator

from shared.kernel.db.parallel import run_all
from shared.kernel.db.records import Record
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Problem
from shared.kernel.events.outbox import raise_record_event
from shared.kernel.validation import Checked, ensure_valid
from shared.warehouse.catalog import repository, rules, views
from shared.warehouse.catalog.models import Packaging, PackagingChange, StoredProduct
from shared.warehouse.catalog.repository import PRODUCTS


def change_packaging(
    tx: Transaction, number: int, change: Checked[PackagingChange]
) -> Record[StoredProduct]:
    """Change the fields sent and raise product.updated, unless they are as before."""
    gtins = rules.valid_gtins(change)
    record, found = run_all(
        lambda: PRODUCTS.get(tx.store, number),
        lambda: tx.store.get_many(repository.gtin_key(gtin) for gtin in gtins.values()),
    )

    def taken() -> Iterator[Problem]:
        for place, gtin in gtins.items():
            alias = found.get(repository.gtin_key(gtin))
            if alias and alias["id"] != number:
                owner = f"{alias['item_code']} (product, id {alias['id']})"
                yield Problem(f"gtins.{place}.gtin", f"is already a GTIN of {owner}")

    before = record.entity
    former = views.packaging(before)
    problems = [*rules.repeated_gtins(gtins), *taken(), *rules.unit_problems(change, former)]
    change = ensure_valid(change, problems)
    sent = change.model_dump(include=change.model_fields_set)
    after = Packaging.model_validate({**former.model_dump(), **sent})
    packaging = rules.with_counted_gtins(
        former.model_copy(update={name: getattr(after, name) for name in sent})
    )
    if packaging == former:
        return record
    values = {"packaging": packaging if packaging != Packaging() else None}
    changed = PRODUCTS.update(tx, record, values)
    repository.replace_units(tx, record, changed.entity)
    repository.replace_gtin_aliases(tx, before, changed.entity)
    raise_record_event(tx, "product.updated", views.PRODUCT_EVENTS, changed)
    return changed

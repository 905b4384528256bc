"""Use cases of products and product categories."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from shared.kernel.db.actions import StaleRead
from shared.kernel.db.alias_entries import bring_alias_up_to_date
from shared.kernel.db.items import Item, Key
from shared.kernel.db.records import Record
from shared.kernel.db.search import count_search_items
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Gone, Problem
from shared.kernel.events.outbox import raise_record_event
from shared.kernel.list_parameters import list_of
from shared.kernel.metadata import merge, merge_problems
from shared.kernel.references import drop_code, give_up_code, present_aliases, rename_alias
from shared.kernel.validation import Checked, ensure_valid, invalid_fields
from shared.warehouse.catalog import gtins, repository, rules, views
from shared.warehouse.catalog.models import (
    Category,
    CategoryChange,
    CategoryCreate,
    KnownProduct,
    Packaging,
    Product,
    ProductChange,
    ProductCreate,
    StoredProduct,
)
from shared.warehouse.catalog.repository import CATEGORIES, PRODUCTS
from shared.warehouse.master_data.uses import code_refusal, retire_unused

type RenameStock = Callable[[Transaction, Product, Product, Callable[[], None]], None]
"""Commits the new code and name of a product to its stock rows and levels; takes the product before
and after, and what commits the name for stock that arrives from now on. `stock.renames` passes it,
because the catalog cannot import stock, which imports the catalog."""

_FIXED_IN_USE = "cannot change item_code, man_btch_num, man_ser_num or inventory_item"


def create_product(tx: Transaction, draft: Checked[ProductCreate]) -> Record[StoredProduct]:
    """Create a product and raise product.created."""
    draft = ensure_valid(draft, examine_product(tx.store, draft, new=True))
    code = rules.code_of(draft)
    record = PRODUCTS.create(tx, {"item_code": code, "sku": code, **rules.values(draft)})
    repository.put_alias(tx, record.entity, new=True)
    raise_record_event(tx, "product.created", views.PRODUCT_EVENTS, record)
    return record


def examine_product(store: Store, draft: Checked[ProductCreate], *, new: bool) -> list[Problem]:
    """Return the problems that field validation does not find; a taken code only if `new`."""
    code, found = rules.code_of(draft), rules.code_problems(draft)
    if not code and not invalid_fields(draft) & {"item_code", "sku"}:
        found.append(Problem("item_code", "is required"))
    if new and code:
        found += _taken_code_problems(store, draft, code)
    return found


def examine_merge(store: Store, draft: Checked[ProductCreate]) -> Iterator[Problem]:
    """Yield the problems of the metadata that a draft adds to the product that has its code."""
    number = repository.number_of(store, rules.code_of(draft)) if draft.metadata else None
    for record in PRODUCTS.get_many(store, [] if number is None else [number]):
        yield from merge_problems(record.entity.metadata, draft)


def put_product(
    tx: Transaction, draft: ProductCreate, rename_stock: RenameStock
) -> Record[StoredProduct]:
    """Create a product, or change the product that has its code to the values of the draft.

    A draft that changes nothing writes nothing and raises no event.

    Raises:
        Conflict: As for `change_product`.
    """
    ensure_valid(draft, examine_product(tx.store, draft, new=False))
    number = repository.number_of(tx.store, rules.code_of(draft))
    if number is None:
        return create_product(tx, draft)
    try:
        change = ProductChange(**rules.values(draft))
        return change_product(tx, number, change, rename_stock)
    except Gone:  # deleted after its alias was read
        raise StaleRead from None


def search_actions(store: Store, draft: ProductCreate) -> int:
    """Return how many items of the search index `put_product` writes at most with the alias."""
    code = rules.code_of(draft)
    number = repository.number_of(store, code)
    before = PRODUCTS.get_many(store, [] if number is None else [number])
    present = {
        repository.search_text(record.entity.item_code, record.entity.name)
        for record in before
        if not PRODUCTS.differs(record.schema, store.version.written)
    }
    text = repository.search_text(code, draft.name)
    return 0 if present == {text} else max(map(count_search_items, {text, *present})) - 1


def existing_product_keys(found: Mapping[Key, Item], codes: Iterable[str]) -> list[Key]:
    """Return the keys of the products whose aliases were found."""
    keys = [product_key(code) for code in codes]
    return [PRODUCTS.key(int(found[key]["id"])) for key in keys if key in found]


def change_product(
    tx: Transaction, number: int, change: Checked[ProductChange], rename_stock: RenameStock
) -> Record[StoredProduct]:
    """Change the fields sent and raise product.updated, unless they are as before.

    Raises:
        Conflict: The code or the management by batch or serial would change while stock, an open
            document or a pick face refers to the product.
    """
    record = PRODUCTS.get(tx.store, number)
    before = record.entity
    code, found = rules.code_of(change) or before.item_code, rules.code_problems(change)
    renamed = code != before.item_code
    if renamed:
        found += _taken_code_problems(tx.store, change, code, number)
    found += merge_problems(before.metadata, change)
    change = ensure_valid(change, found)
    own = merge(rules.values(change), before.metadata)
    values = {"item_code": code, "sku": code, **own}
    after = before.model_copy(update=values)
    fixed = rules.changes_identity(before, after)
    mark = _retire(tx, before, _FIXED_IN_USE) if fixed else None
    if renamed or after.name != before.name:
        rename_stock(tx, before, after, lambda: _commit_name(tx, after))
    if mark and renamed:
        new = repository.code_key(code)
        give_up_code(tx, repository.code_key(before.item_code), mark, new=new)
        repository.replace_gtin_aliases(tx, before, after)
    if mark:
        repository.put_alias(tx, after, new=renamed, mark=mark)
    elif after.name != before.name:
        rename_alias(tx, repository.alias_of(after), repository.search_entries(tx, after))
    elif after != before:
        bring_alias_up_to_date(tx, PRODUCTS, record)
    changed = PRODUCTS.update(tx, record, values)
    if changed is not record:
        raise_record_event(tx, "product.updated", views.PRODUCT_EVENTS, changed)
    return changed


def _commit_name(tx: Transaction, product: StoredProduct) -> None:
    """Commit the name of a product in its alias, which stock that arrives copies."""
    own = Transaction(tx.store)
    rename_alias(own, repository.alias_of(product))
    own.commit()


def delete_product(tx: Transaction, number: int) -> Record[StoredProduct]:
    """Delete a product.

    Raises:
        Conflict: Stock, an open document or a pick face names it.
    """
    record = PRODUCTS.get(tx.store, number)
    mark = _retire(tx, record.entity, "cannot be deleted")
    drop_code(tx, repository.code_key(record.entity.item_code), mark)
    repository.replace_gtin_aliases(tx, record.entity, None)
    PRODUCTS.remove(tx, record)
    return record


def _retire(tx: Transaction, product: Product, what: str) -> str:
    return retire_unused(
        tx,
        repository.code_key(product.item_code),
        facet="product",
        number=product.id,
        refusal=f"Product {product.item_code} is {{use}} and {what}.",
    )


def _taken_code_problems(
    store: Store,
    draft: Checked[ProductCreate] | Checked[ProductChange],
    code: str,
    number: int | None = None,
) -> list[Problem]:
    """Return a problem if a product cannot get a code; `number` is its id if it exists."""
    refusal = code_refusal(
        store,
        repository.code_key(code),
        lambda owner: PRODUCTS.get(store, owner).entity.item_code,
        noun="product",
        number=number,
    )
    field = "item_code" if "item_code" in draft.model_fields_set else "sku"
    return [Problem(field, refusal)] if refusal else []


get_product = PRODUCTS.get
get_products = PRODUCTS.get_many
list_products = gtins.list_products
product_key = repository.code_key
"""Returns the key of the item that `known_products` needs."""


def is_product(store: Store, code: str) -> bool:
    """Return whether a product has the code."""
    return repository.number_of(store, code) is not None


def find_product(store: Store, code: str) -> KnownProduct | None:
    """Return the product with this code, if there is one."""
    return repository.find_product(store, code)


def packagings(store: Store, numbers: Sequence[int]) -> dict[int, Packaging | None]:
    """Return the packaging of products by their ids; None for one without."""
    return {record.id: record.entity.packaging for record in PRODUCTS.get_many(store, numbers)}


def least_days(store: Store, numbers: Sequence[int]) -> dict[int, int]:
    """Return `min_remaining_days` of products by their ids.

    It is 0 for a product without it, and for one that does not exist any more.
    """
    found = {record.id: record.entity for record in PRODUCTS.get_many(store, numbers)}
    days = {number: product.min_remaining_days or 0 for number, product in found.items()}
    return dict.fromkeys(numbers, 0) | days


def known_products(
    tx: Transaction, codes: Iterable[str], found: Mapping[Key, Item]
) -> dict[str, KnownProduct]:
    """Return the products with these codes; see `references.present_aliases`."""
    aliases = present_aliases(tx, {code: product_key(code) for code in codes}, found)
    return {code: repository.known_product(alias) for code, alias in aliases.items()}


def create_category(tx: Transaction, draft: Checked[CategoryCreate]) -> Record[Category]:
    """Create a product category."""
    return CATEGORIES.create(tx, ensure_valid(draft).model_dump())


def change_category(
    tx: Transaction, number: int, change: Checked[CategoryChange]
) -> Record[Category]:
    """Change the fields sent."""
    record = CATEGORIES.get(tx.store, number)
    return CATEGORIES.update(tx, record, ensure_valid(change).model_dump(exclude_unset=True))


delete_category = CATEGORIES.delete
get_category = CATEGORIES.get
list_categories = list_of(CATEGORIES)

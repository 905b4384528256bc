"""Use cases of the catalog."""

from collections.abc import Iterable, Mapping, Sequence

from shared.kernel.db.collection import Record
from shared.kernel.db.items import Item, Key
from shared.kernel.db.listing import Page
from shared.kernel.db.references import ensure_not_retired, retire_unused
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import StaleRead, Transaction
from shared.kernel.errors import Gone, Problem, ValidationFailed
from shared.kernel.events.kinds import EventKind
from shared.kernel.events.outbox import Event, raise_event
from shared.warehouse.catalog import repository, rules
from shared.warehouse.catalog.models import (
    Category,
    CategoryChange,
    CategoryCreate,
    CategoryParameters,
    KnownProduct,
    Product,
    ProductChange,
    ProductCreate,
    ProductParameters,
)
from shared.warehouse.catalog.repository import CATEGORIES, PRODUCTS


def create_product(
    tx: Transaction, draft: ProductCreate, problems: Sequence[Problem] = ()
) -> Record[Product]:
    """Create a product and raise product.created.

    `problems` are what is already known to be wrong with the body; then nothing is
    created and all problems are raised together. Raises ValidationFailed, also when
    the code is taken.
    """
    code, found = _coded(draft, problems)
    if code is not None and repository.taken(tx.store, code):
        found.append(_taken(draft))
    if found or code is None:
        raise ValidationFailed(found)
    number = tx.next_id("product")
    product = Product(
        id=number,
        item_code=code,
        sku=code,
        created_at=tx.now,
        updated_at=tx.now,
        **rules.values(draft),
    )
    record = PRODUCTS.insert(tx, number, product)
    repository.put_alias(tx, product, new=True)
    _raise(tx, "product.created", record)
    return record


def _coded(draft: ProductCreate, problems: Sequence[Problem]) -> tuple[str | None, list[Problem]]:
    code, found = rules.code_of(draft)
    found = [*problems, *found]
    named = {problem.field for problem in found}
    if code is None and not named & {"item_code", "sku"}:
        found.append(Problem("item_code", "is required"))
    return code, found


def examine_product(
    store: Store, draft: ProductCreate, problems: Sequence[Problem] = (), *, new: bool
) -> list[Problem]:
    """Find all that stands against a product, as `create_product` does.

    `new`: its code must be free.
    """
    code, found = _coded(draft, problems)
    if new and code is not None and repository.taken(store, code):
        found.append(_taken(draft))
    return found


def put_product(tx: Transaction, draft: ProductCreate) -> Record[Product]:
    """Create a product, or change the fields that the draft sets of the one with its code.

    What would change nothing is not written, and nothing is raised. Raises what
    `create_product` and `change_product` raise.
    """
    code, found = _coded(draft, ())
    if found or code is None:
        raise ValidationFailed(found)
    number = repository.number_of(tx.store, code)
    if number is None:
        return create_product(tx, draft)
    values = rules.values(draft)
    try:
        record = PRODUCTS.get(tx.store, number)
    except Gone:  # deleted since its alias was read
        raise StaleRead from None
    if all(getattr(record.entity, name) == value for name, value in values.items()):
        return record
    return change_product(tx, number, ProductChange(**values))


def product_heads(found: Mapping[Key, Item], codes: Iterable[str]) -> list[Key]:
    """Keys of the products behind the aliases found, to be read before they are changed."""
    keys = [product_key(code) for code in codes]
    return [PRODUCTS.key(int(found[key]["id"])) for key in keys if key in found]


def change_product(
    tx: Transaction, number: int, change: ProductChange, problems: Sequence[Problem] = ()
) -> Record[Product]:
    """Change the fields sent and raise product.updated.

    Raises NotFound, Gone, ValidationFailed, and Conflict when the code or the way it
    is managed would change while open work refers to the product.
    """
    record = PRODUCTS.get(tx.store, number)
    before = record.entity
    code, found = rules.code_of(change)
    found = [*problems, *found]
    renamed = code is not None and code != before.item_code
    if renamed and code is not None and repository.taken(tx.store, code):
        found.append(_taken(change))
    if found:
        raise ValidationFailed(found)
    code = code or before.item_code
    update = {"item_code": code, "sku": code, "updated_at": tx.now, **rules.values(change)}
    after = before.model_copy(update=update)
    if rules.changes_identity(before, after):
        mark = _retire(tx, before, "cannot change its code or how it is managed")
        if renamed:
            repository.drop_alias(tx, before.item_code, mark)
        repository.put_alias(tx, after, new=renamed, mark=mark)
    elif after.name != before.name:
        repository.rename_alias(tx, after)
    changed = PRODUCTS.replace(tx, record, after)
    _raise(tx, "product.updated", changed)
    return changed


def delete_product(tx: Transaction, number: int) -> Record[Product]:
    """Delete a product; Conflict while open work refers to it."""
    record = PRODUCTS.get(tx.store, number)
    mark = _retire(tx, record.entity, "cannot be deleted")
    repository.drop_alias(tx, record.entity.item_code, mark)
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


def _taken(draft: ProductCreate | ProductChange) -> Problem:
    field = "item_code" if "item_code" in draft.model_fields_set else "sku"
    return Problem(field, "is already taken by another product")


def _raise(tx: Transaction, kind: EventKind, record: Record[Product]) -> None:
    raise_event(
        tx,
        Event(
            type=kind,
            object="product",
            id=record.id,
            version=record.version,
            href=f"/products/{record.id}",
            attributes=record.entity.model_dump(),
        ),
    )


def get_product(store: Store, number: int) -> Record[Product]:
    """Read a product; NotFound, or Gone when it was deleted."""
    return PRODUCTS.get(store, number)


def list_products(store: Store, parameters: ProductParameters) -> Page[Product]:
    """Read a page of products."""
    return repository.list_products(store, parameters)


def product_key(code: str) -> Key:
    """Key to read, with others in one call, for `known_products`."""
    return repository.code_key(code)


def known_products(
    tx: Transaction, codes: Iterable[str], found: Mapping[Key, Item]
) -> dict[str, KnownProduct]:
    """Pick the products with these codes out of the items read by `product_key`.

    Call `tx.fence` before reading. A product that is just being deleted or renamed
    makes the use case decide again.
    """
    aliases = {code: found[key] for code in codes if (key := product_key(code)) in found}
    ensure_not_retired(tx, aliases.values())
    return {code: repository.known_product(alias) for code, alias in aliases.items()}


def create_category(tx: Transaction, draft: CategoryCreate) -> Record[Category]:
    """Create a product category."""
    number = tx.next_id("category")
    category = Category(
        id=number,
        name=draft.name,
        description=draft.description,
        created_at=tx.now,
        updated_at=tx.now,
    )
    return CATEGORIES.insert(tx, number, category)


def change_category(tx: Transaction, number: int, change: CategoryChange) -> Record[Category]:
    """Change the fields sent."""
    record = CATEGORIES.get(tx.store, number)
    update = {**change.model_dump(exclude_unset=True), "updated_at": tx.now}
    return CATEGORIES.replace(tx, record, record.entity.model_copy(update=update))


def delete_category(tx: Transaction, number: int) -> Record[Category]:
    """Delete a product category."""
    record = CATEGORIES.get(tx.store, number)
    CATEGORIES.remove(tx, record)
    return record


def get_category(store: Store, number: int) -> Record[Category]:
    """Read a product category; NotFound, or Gone when it was deleted."""
    return CATEGORIES.get(store, number)


def list_categories(store: Store, parameters: CategoryParameters) -> Page[Category]:
    """Read a page of product categories."""
    return repository.list_categories(store, parameters)

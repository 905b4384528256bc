"""The sample data of tenant acme is complete, consistent and valid for the API."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from datetime import date
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from local.sample import ACME, read_records
from shared.kernel.json_text import loads
from shared.kernel.validation import check, ensure_valid, problems_of
from shared.warehouse.gs1.numbers import check_digit
from shared.warehouse.layout.models import LayoutDraft
from shared.warehouse.layout.rules import layout_problems
from shared.warehouse.partners.models import ClientCreate, ProviderCreate

WAREHOUSES = read_records(ACME / "warehouses.csv")
POSITIONS = read_records(ACME / "warehouse_positions.csv")
CATEGORIES = read_records(ACME / "product_categories.csv")
PRODUCTS = read_records(ACME / "products.csv")
CLIENTS = read_records(ACME / "clients.csv")
PROVIDERS = read_records(ACME / "providers.csv")
ENTRIES = read_records(ACME / "entry_documents.json")
EXITS = read_records(ACME / "exit_documents.json")
MAPS = read_records(ACME / "warehouse_layouts.json")

BY_CODE = {product["item_code"]: product for product in PRODUCTS}
BY_BIN = {(position["whs_code"], position["bin_code"]): position for position in POSITIONS}
WHS_CODES = {warehouse["whs_code"] for warehouse in WAREHOUSES}

type Line = tuple[dict[str, Any], dict[str, Any]]


def lines(documents: list[dict[str, Any]]) -> Iterator[Line]:
    return ((document, line) for document in documents for line in document["lines"])


def repeated(values: Iterator[Any]) -> list[Any]:
    return [value for value, times in Counter(values).items() if times > 1]


def test_number_of_records_per_file() -> None:
    assert len(WAREHOUSES) == 2
    assert len(POSITIONS) == 200
    assert len(PRODUCTS) == 500
    assert (len(CLIENTS), len(PROVIDERS)) == (12, 8)
    assert (len(ENTRIES), len(EXITS)) == (30, 30)
    assert 10 <= len(CATEGORIES) <= 20


def test_natural_keys_are_unique() -> None:
    assert not repeated(warehouse["whs_code"] for warehouse in WAREHOUSES)
    assert not repeated((place["whs_code"], place["bin_code"]) for place in POSITIONS)
    assert not repeated(category["name"] for category in CATEGORIES)
    assert not repeated(product["item_code"] for product in PRODUCTS)
    assert not repeated(product["name"] for product in PRODUCTS)
    assert not repeated(partner["code"] for partner in CLIENTS + PROVIDERS)
    assert not repeated(client["document_id"] for client in CLIENTS)
    assert not repeated(provider["name"] for provider in PROVIDERS)
    assert not repeated((paper["type"], paper["external_ref"]) for paper in ENTRIES + EXITS)


def test_barcodes_are_ean_13_with_their_check_digit() -> None:
    barcodes = [product["barcode"] for product in PRODUCTS if "barcode" in product]
    assert len(barcodes) > 450
    assert not repeated(iter(barcodes))
    for barcode in barcodes:
        assert re.fullmatch(r"\d{13}", barcode)
        assert barcode[-1] == check_digit(barcode[:12]), barcode


def test_no_product_is_managed_by_batch_and_serial() -> None:
    assert sum(product["man_btch_num"] for product in PRODUCTS) == 60
    assert sum(product["man_ser_num"] for product in PRODUCTS) == 40
    assert not [p for p in PRODUCTS if p["man_btch_num"] and p["man_ser_num"]]
    services = [product for product in PRODUCTS if not product["inventory_item"]]
    assert {service["type"] for service in services} == {"Services"}
    assert not [service for service in services if "barcode" in service]


def test_each_product_has_units_and_an_existing_category() -> None:
    categories = {category["name"] for category in CATEGORIES}
    assert {product["type"] for product in PRODUCTS} == categories
    assert all(product["sales_unit"] and product["purchase_unit"] for product in PRODUCTS)


def test_item_codes_start_with_their_group() -> None:
    assert all(re.fullmatch(r"[A-Z]{3}(-[0-9A-Z]+)+", code) for code in BY_CODE)


def test_warehouses_have_an_address_and_a_valid_time_zone() -> None:
    for warehouse in WAREHOUSES:
        assert ZoneInfo(warehouse["timezone"]).key == warehouse["timezone"]
        assert warehouse.keys() >= {"street", "city", "zip_code", "country"}


def test_positions_belong_to_existing_warehouses() -> None:
    assert {position["whs_code"] for position in POSITIONS} == WHS_CODES


@pytest.mark.parametrize("whs_code", sorted(WHS_CODES))
def test_each_warehouse_has_positions_of_every_type(whs_code: str) -> None:
    uses = {position["type"] for position in POSITIONS if position["whs_code"] == whs_code}
    assert uses == {"receiving", "pick_face", "reserve", "storage", "staging_out", "dock"}


def test_bin_codes_consist_of_aisle_rack_level_and_slot() -> None:
    in_aisles = [position for position in POSITIONS if "aisle" in position]
    assert len(in_aisles) > 150
    for position in in_aisles:
        place = [position[part] for part in ("aisle", "rack", "level", "slot")]
        assert position["bin_code"] == "-".join(place)


def test_some_positions_are_blocked_and_others_disabled() -> None:
    assert sum(position["is_blocked"] for position in POSITIONS) == 4
    assert sum(position["disabled"] for position in POSITIONS) == 3


def test_pickable_pick_faces_have_a_unique_pick_sequence() -> None:
    faces = [p for p in POSITIONS if p["type"] == "pick_face" and p["is_pickable"]]
    assert not repeated((face["whs_code"], face["pick_sequence"]) for face in faces)


def test_partners_are_valid() -> None:
    for client in CLIENTS:
        assert not problems_of(check(ClientCreate, client))
    for provider in PROVIDERS:
        assert not problems_of(check(ProviderCreate, provider))


def test_clients_have_their_tax_document_and_providers_their_payment_terms() -> None:
    assert all(client["document_type"] and client["email"] for client in CLIENTS)
    assert all(provider["paymentinfo"] and provider["email"] for provider in PROVIDERS)


def test_documents_have_the_types_of_the_api() -> None:
    entry_types = {document["type"] for document in ENTRIES}
    exit_types = {document["type"] for document in EXITS}
    assert entry_types == {"purchase_order", "goods_receipt", "delivery_good"}
    assert exit_types == {"sale_order", "delivery_note", "return_to_provider"}
    assert {document["priority"] for document in EXITS} == {"Alta", "Normal", "Baja"}


def test_documents_refer_to_existing_warehouses_and_partners() -> None:
    names = {partner["code"]: partner["name"] for partner in CLIENTS + PROVIDERS}
    for document in ENTRIES + EXITS:
        assert document["warehouse_code"] in WHS_CODES
        assert names[document["partner_code"]] == document["partner_name"]


def test_partners_of_entries_and_returns_are_providers() -> None:
    providers = {provider["code"] for provider in PROVIDERS}
    for document in ENTRIES + EXITS:
        expected = document in ENTRIES or document["type"] == "return_to_provider"
        assert (document["partner_code"] in providers) == expected, document["external_ref"]


def test_documents_are_due_no_earlier_than_they_are_dated() -> None:
    for document in ENTRIES + EXITS:
        dated = date.fromisoformat(document["doc_date"])
        due = document.get("due_date")
        assert due is None or date.fromisoformat(due) >= dated


def test_lines_ask_for_stocked_products_in_positive_quantities() -> None:
    assert all(document["lines"] for document in ENTRIES + EXITS)
    for _, line in lines(ENTRIES + EXITS):
        assert BY_CODE[line["item_code"]]["inventory_item"]
        assert line["qty"] > 0


def test_batches_only_on_batch_managed_products() -> None:
    named = [line for _, line in lines(ENTRIES + EXITS) if "batch" in line]
    assert len(named) >= 20
    assert all(BY_CODE[line["item_code"]]["man_btch_num"] for line in named)


def test_batches_arrive_with_a_date_of_expiry_after_the_document() -> None:
    for document, line in lines(ENTRIES):
        assert ("batch" in line) == ("expiry_date" in line)
        if "expiry_date" in line:
            assert date.fromisoformat(line["expiry_date"]) > date.fromisoformat(
                document["doc_date"]
            )


def test_serials_only_on_serial_managed_products_and_as_many_as_units() -> None:
    named = [line for _, line in lines(ENTRIES + EXITS) if "serials" in line]
    assert len(named) >= 10
    for line in named:
        assert BY_CODE[line["item_code"]]["man_ser_num"]
        assert len(line["serials"]) == line["qty"]


@pytest.mark.parametrize("documents", [ENTRIES, EXITS], ids=["entries", "exits"])
def test_each_serial_arrives_and_leaves_once(documents: list[dict[str, Any]]) -> None:
    assert not repeated(s for _, line in lines(documents) for s in line.get("serials", []))


def test_destination_bins_exist_and_are_enabled() -> None:
    aimed = [(paper, line) for paper, line in lines(ENTRIES) if "destination_bin" in line]
    assert len(aimed) >= 30
    for document, line in aimed:
        position = BY_BIN[document["warehouse_code"], line["destination_bin"]]
        assert not position["is_blocked"]
        assert not position["disabled"]


def test_exits_have_no_destination_bin() -> None:
    assert not [line for _, line in lines(EXITS) if "destination_bin" in line]


def test_exits_do_not_exceed_the_goods_received() -> None:
    on_hand = Counter[tuple[str, ...]]()
    serials = set[tuple[str, str, str]]()
    for document, line in lines(ENTRIES):
        product = (document["warehouse_code"], line["item_code"])
        on_hand[product] += line["qty"]
        if "batch" in line:
            on_hand[*product, line["batch"]] += line["qty"]
        serials.update((*product, serial) for serial in line.get("serials", []))
    for document, line in lines(EXITS):
        product = (document["warehouse_code"], line["item_code"])
        on_hand[product] -= line["qty"]
        if "batch" in line:
            on_hand[*product, line["batch"]] -= line["qty"]
        assert {(*product, serial) for serial in line.get("serials", [])} <= serials
    assert [product for product, quantity in on_hand.items() if quantity < 0] == []


def test_every_position_is_in_the_layout_of_its_warehouse() -> None:
    for chart in MAPS:
        here = [place for place in POSITIONS if place["whs_code"] == chart["whs_code"]]
        bays = {(bay["aisle"], bay["number"]): bay for bay in chart["bays"]}
        shelves = {(place["aisle"], place["rack"]) for place in here if "aisle" in place}
        assert shelves == bays.keys()
        for place in here:
            if "aisle" in place:
                levels = bays[place["aisle"], place["rack"]]["levels"]
                assert int(place["level"]) in {level["level_no"] for level in levels}
        points = {point["code"] for point in chart["points"] if point["kind"] != "charger"}
        assert points == {place["bin_code"] for place in here if "aisle" not in place}
    assert {chart["whs_code"] for chart in MAPS} == WHS_CODES


@pytest.mark.parametrize("chart", MAPS, ids=lambda chart: str(chart["whs_code"]))
def test_layouts_are_valid(chart: dict[str, Any]) -> None:
    # Parsed as by the service, without binary floats.
    draft = ensure_valid(check(LayoutDraft, loads(json.dumps(chart))))
    assert layout_problems(draft) == []

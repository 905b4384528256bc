"""The sample data of tenant acme is complete and consistent.

What the service refuses, such as an unknown product, ends the start of the local stack, which loads
the data.
"""

import re
from collections import Counter
from collections.abc import Iterator
from datetime import date
from typing import Any

import pytest

from local.sample import ACME, read_records
from shared.warehouse.gs1.numbers import check_digit

WAREHOUSES = read_records(ACME / "warehouses.csv")
POSITIONS = read_records(ACME / "warehouse_positions.csv")
CATEGORIES = read_records(ACME / "product_categories.csv")
PRODUCTS = read_records(ACME / "products.csv")
CLIENTS = read_records(ACME / "clients.csv")
PROVIDERS = read_records(ACME / "providers.csv")
ENTRIES = read_records(ACME / "entry_documents.json")
EXITS = read_records(ACME / "exit_documents.json")
MAPS = read_records(ACME / "warehouse_layouts.json")

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


def test_documents_have_the_types_of_the_api() -> None:
    entry_types = {document["type"] for document in ENTRIES}
    exit_types = {document["type"] for document in EXITS}
    assert entry_types == {"purchase_order", "goods_receipt", "delivery_good"}
    assert exit_types == {"sale_order", "delivery_note", "return_to_provider"}
    assert {document["priority"] for document in EXITS} == {"Alta", "Normal", "Baja"}


def test_documents_name_partners_of_the_sample() -> None:
    names = {partner["code"]: partner["name"] for partner in CLIENTS + PROVIDERS}
    for document in ENTRIES + EXITS:
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


@pytest.mark.parametrize("documents", [ENTRIES, EXITS], ids=["entries", "exits"])
def test_each_serial_arrives_and_leaves_once(documents: list[dict[str, Any]]) -> None:
    assert not repeated(s for _, line in lines(documents) for s in line.get("serials", []))


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

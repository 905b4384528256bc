"""Publication, reading, drawing and deletion of the map of a warehouse."""

import base64
import hashlib
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from local.sample import ACME, read_records
from tests.gateway import Erp
from tests.integration.stored_entities import assert_counters_match, read_stored_entities
from tests.integration.warehouses.conftest import Make
from tests.integration.write_routes import MAP
from tests.openapi import complaints
from tests.stack import Stack, event_attributes

LAYOUT = "/warehouses/1/layout"
HALL = {"width_m": 40, "depth_m": 25.5}
NOTHING: dict[str, Any] = {
    "grid_m": None,
    "naming_mask": None,
    "slots_per_level": None,
    "depot": None,
    "zones": [],
    "aisles": [],
    "bays": [],
    "points": [],
}


def big_map(bays: int) -> dict[str, Any]:
    """Return a map whose text hardly compresses."""
    digests = (hashlib.sha256(str(n).encode()).digest() for n in range(3 * bays))
    words = [base64.b85encode(digest).decode()[:32] for digest in digests]
    return {
        "width_m": 1000,
        "depth_m": 1000,
        "bays": [
            {
                "number": words[3 * n],
                "side": words[3 * n + 1],
                "rack_type": words[3 * n + 2],
                "x": n % 100 * 3,
                "y": n // 100 * 2,
                "w": 2.7,
                "d": 1.1,
            }
            for n in range(bays)
        ],
    }


WORDS = ("", "x" * 32, "  ")


def hall_with_words(word: str | None) -> dict[str, Any]:
    """Return a map in which every free word is `word`."""
    square = [[0, 0], [20, 0], [20, 20], [0, 20]]
    colored = {"type": word, "color": word, "temperature_class": word}
    return {
        **HALL,
        "zones": [{"code": "Z", "polygon": square, **colored}],
        "aisles": [{"number": 1, "x1": 0, "y1": 9, "x2": 9, "y2": 9, "kind": word}],
        "bays": [{"number": 1, "x": 1, "y": 1, "w": 1, "d": 1, "side": word, "rack_type": word}],
        "points": [{"code": "P", "kind": word, "x": 1, "y": 1}],
    }


@pytest.mark.parametrize("word", WORDS)
def test_words_of_a_map_are_free_and_may_be_empty(central: Erp, word: str) -> None:
    published = central.put(LAYOUT, hall_with_words(word))

    assert published.status == 200, published.text
    kept = word.strip()
    shown = central.get(LAYOUT).data
    (zone,), (aisle,), (bay,), (point,) = (
        shown[part] for part in ("zones", "aisles", "bays", "points")
    )
    assert [zone[name] for name in ("type", "color", "temperature_class")] == [kept] * 3
    assert [aisle["kind"], bay["side"], bay["rack_type"], point["kind"]] == [kept] * 4
    assert complaints("PUT", "/warehouses/{id}/layout", published) == []
    ET.fromstring(central.get(f"{LAYOUT}.svg").text)  # noqa: S314 - the service's own drawing


@pytest.mark.parametrize("body", read_records(ACME / "warehouse_layouts.json"), ids=["CEN", "DUB"])
def test_map_has_all_its_fields(
    erp: Erp, stack: Stack, create_warehouse: Make, body: dict[str, Any]
) -> None:
    create_warehouse(body["whs_code"])

    answer = erp.put(LAYOUT, body).ok()

    sent = {name: value for name, value in body.items() if name != "whs_code"}
    heading = {"warehouse_code": body["whs_code"], "version": 1}
    published_at = answer["published_at"]
    assert answer == {**heading, "published_at": published_at, **sent}
    assert erp.get(LAYOUT).data == answer
    (event,) = [event for event in stack.events() if event["type"]["S"] == "layout.published"]
    assert event["href"]["S"] == LAYOUT
    assert event_attributes(event) == {**heading, "published_at": published_at}
    assert (event["object"]["S"], event["id"]["N"], event["version"]["N"]) == ("layout", "1", "1")
    again = erp.put(LAYOUT, answer).data
    assert again == {**answer, "version": 2, "published_at": again["published_at"]}


def test_publication_replaces_the_complete_map(central: Erp) -> None:
    central.put(LAYOUT, MAP)

    answer = central.put(LAYOUT, HALL).ok()

    assert {name: answer[name] for name in NOTHING} == NOTHING
    assert answer["version"] == 2
    assert central.get(LAYOUT).data == answer


def test_map_has_the_current_code_of_its_warehouse(central: Erp) -> None:
    before = central.put(LAYOUT, MAP).data

    central.patch("/warehouses/1", {"whs_code": "MAIN"})

    assert central.get(LAYOUT).data == {**before, "warehouse_code": "MAIN"}


def test_unpublished_map_is_not_found(central: Erp) -> None:
    for path in (LAYOUT, f"{LAYOUT}.svg", "/warehouses/2/layout", "/warehouses/x/layout"):
        assert (central.get(path).status, central.get(path).code) == (404, "not_found")
    assert central.put("/warehouses/2/layout", HALL).status == 404
    assert central.get("/warehouses/1/layoutXsvg").status == 404
    answer = central.delete(LAYOUT)
    assert (answer.status, answer.headers["Allow"]) == (405, "GET, HEAD, PUT")


def test_map_is_deleted_with_its_warehouse(
    erp: Erp, stack: Stack, create_warehouse: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shared.kernel.db.items.PART_SIZE", 30_000)
    create_warehouse("CEN")
    erp.put(LAYOUT, big_map(900))
    assert len([item for item in stack.items() if item["SK"]["S"].startswith("PART")]) >= 2

    assert erp.delete("/warehouses/1").status == 200

    for answer in (erp.get(LAYOUT), erp.get(f"{LAYOUT}.svg"), erp.put(LAYOUT, HALL)):
        assert (answer.status, answer.code) == (410, "gone")
    assert not [item for item in stack.items() if item["SK"]["S"].startswith("PART")]
    census = read_stored_entities(stack)
    assert census.entities["layout"] == []
    assert_counters_match(stack, census)


def test_map_with_the_largest_body_is_stored(central: Erp, stack: Stack) -> None:
    body = big_map(5000)

    answer = central.put(LAYOUT, body, key="large")

    assert answer.status == 200, answer.text[:300]
    assert len([item for item in stack.items() if item["SK"]["S"].startswith("PART")]) >= 2
    assert central.get(LAYOUT).text == answer.text
    assert [bay["number"] for bay in answer.data["bays"]] == [b["number"] for b in body["bays"]]
    again = central.put(LAYOUT, body, key="large")
    assert again.text == answer.text
    assert again.headers["Idempotent-Replayed"] == "true"
    assert central.get(f"{LAYOUT}.svg").status == 200
    assert central.put(LAYOUT, HALL).data["version"] == 2
    assert central.get(LAYOUT).data["bays"] == []


def test_tags_of_a_map_and_of_its_warehouse_do_not_apply_to_each_other(central: Erp) -> None:
    central.put(LAYOUT, MAP)
    of_map, of_warehouse = (central.get(one).headers["ETag"] for one in (LAYOUT, "/warehouses/1"))
    change = {"city": "X"}

    assert central.put(LAYOUT, HALL, headers={"If-Match": of_warehouse}).code == "stale_state"
    assert central.put(LAYOUT, HALL, headers={"If-Match": of_map}).status == 200
    refused = central.patch("/warehouses/1", change, headers={"If-Match": of_map})
    assert refused.code == "stale_state"
    now = central.get("/warehouses/1").headers["ETag"]
    assert central.patch("/warehouses/1", change, headers={"If-Match": now}).status == 200


def test_drawing_is_an_image_without_scripts(erp: Erp, create_warehouse: Make) -> None:
    create_warehouse("CEN", name="<script>alert(1)</script>")
    erp.put(LAYOUT, MAP)

    answer = erp.get(f"{LAYOUT}.svg")

    assert answer.status == 200
    assert complaints("GET", "/warehouses/{id}/layout.svg", answer) == []
    assert answer.headers["Content-Type"] == "image/svg+xml"
    policy = answer.headers["Content-Security-Policy"].split("; ")
    assert {"default-src 'none'", "sandbox"} <= set(policy)
    assert not [part for part in policy if "unsafe" in part or "self" in part]
    root = ET.fromstring(answer.text)  # noqa: S314 - our own text
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert "CEN · <script>alert(1)</script>" in [node.text for node in root.iter()]
    tag = answer.headers["ETag"]
    assert erp.get(f"{LAYOUT}.svg", headers={"If-None-Match": tag}).status == 304

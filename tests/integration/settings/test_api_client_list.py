"""The list of API clients: sorting, filters and pages."""

import base64
import json
from urllib.parse import parse_qsl, urlsplit

import pytest

from tests.clock import Clock
from tests.faults import AwsFaults
from tests.gateway import Erp

_SCOPES = ["stocks:read"]


@pytest.fixture
def ids(erp: Erp, clock: Clock) -> list[str]:
    """Ids of five clients in order of creation; every second one is a mobile application."""
    made: list[str] = []
    for name in ("delta", "Álvarez", "charlie", "bravo", "echo"):
        clock.advance(1)
        kind = {"kind": "mobile"} if len(made) % 2 else {"scopes": _SCOPES}
        made.append(erp.post("/api-clients", {"name": name, **kind}).ok(201)["id"])
    return made


def shown(erp: Erp, **query: object) -> list[str]:
    """Return the ids of the whole list, read in pages of two by links.next."""
    return [row["id"] for row in erp.walk("/api-clients", per_page=2, **query)]


def test_list_is_sorted_by_creation_or_name(erp: Erp, ids: list[str]) -> None:
    by_name = [ids[1], ids[3], ids[2], ids[0], ids[4]]
    assert shown(erp) == shown(erp, sort="created_at") == ids
    assert shown(erp, sort="-created_at") == ids[::-1]
    assert shown(erp, sort="name") == by_name
    assert shown(erp, sort="-name") == by_name[::-1]


def test_list_can_be_filtered_by_kind_and_update_time(erp: Erp, ids: list[str]) -> None:
    assert shown(erp, kind="mobile") == ids[1::2]
    assert shown(erp, kind="integration", sort="-created_at") == ids[::-2]
    since = erp.get(f"/api-clients/{ids[3]}").data["updated_at"]
    assert shown(erp, updated_since=since) == ids[3:]
    assert shown(erp, updated_since=since, kind="mobile") == [ids[3]]


def test_pages_by_number_have_totals(erp: Erp, ids: list[str]) -> None:
    second = erp.get("/api-clients", query={"page": 2, "per_page": 2}).json()
    assert [row["id"] for row in second["data"]] == ids[2:4]
    assert (second["meta"]["total"], second["meta"]["last_page"]) == (5, 3)
    assert (second["meta"]["from"], second["meta"]["to"]) == (3, 4)
    assert erp.get("/api-clients", query={"page": 9}).json()["data"] == []


def test_next_page_continues_after_clients_were_revoked(erp: Erp, ids: list[str]) -> None:
    first = erp.get("/api-clients", query={"per_page": 2}).json()
    for gone in ids[:2]:
        assert erp.delete(f"/api-clients/{gone}").status == 200
    second = erp.follow(first["links"]["next"]).json()
    assert [row["id"] for row in second["data"]] == ids[2:4]
    assert second["meta"]["total"] == 3


@pytest.mark.parametrize("sort", ["created_at", "-created_at", "name", "-name"])
def test_next_page_continues_after_a_revoked_last_client(
    erp: Erp, ids: list[str], sort: str
) -> None:
    rows = shown(erp, sort=sort)
    first = erp.get("/api-clients", query={"per_page": 3, "sort": sort}).json()
    assert [row["id"] for row in first["data"]] == rows[:3]
    assert erp.delete(f"/api-clients/{rows[2]}").status == 200
    second = erp.follow(first["links"]["next"]).json()
    assert [row["id"] for row in second["data"]] == rows[3:]
    assert sorted(rows) == sorted(ids)


def test_revoked_clients_are_not_read(erp: Erp, ids: list[str], aws_faults: AwsFaults) -> None:
    for gone in ids[:4]:
        assert erp.delete(f"/api-clients/{gone}").status == 200

    with aws_faults.recorded() as seen:
        assert shown(erp) == ids[4:]

    assert seen.entries_examined == 1


@pytest.mark.parametrize(
    "mark",
    ["stw_beta_0123456789abcdef01234567", "stw_acme_0123456789abcdef01234567", "", "x" * 1000,
     "\ud800", "stw_acme_\x00", 5],
)  # fmt: skip
def test_cursor_after_a_client_that_never_existed_is_refused(
    erp: Erp, ids: list[str], mark: object
) -> None:
    assert len(ids) > 2
    following = erp.get("/api-clients", query={"per_page": 2}).json()["links"]["next"]
    query = dict(parse_qsl(urlsplit(following).query))
    *listing, last = json.loads(base64.urlsafe_b64decode(query["cursor"] + "=="))
    assert last in ids
    text = json.dumps([*listing, mark])
    query["cursor"] = base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")

    answer = erp.get("/api-clients", query=query)

    assert (answer.status, answer.json()["error"]["field"]) == (422, "cursor")


@pytest.mark.parametrize(
    "query", [{"sort": "kind"}, {"kind": "robot"}, {"page": 0}, {"updated_since": "yesterday"}]
)
def test_invalid_parameters_are_refused(erp: Erp, query: dict[str, object]) -> None:
    refused = erp.get("/api-clients", query=query)
    assert (refused.status, refused.code) == (422, "validation_failed")
    assert refused.json()["error"]["field"] == next(iter(query))

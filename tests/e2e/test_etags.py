"""Conditional requests through the gateway."""

import httpx

from tests.e2e.responses import data, refused


def test_etag_avoids_downloads_and_lost_updates(acme: httpx.Client, run: str) -> None:
    created = acme.post("/products", json={"item_code": f"E2E-{run}", "name": "Drum"})
    path = f"/products/{data(created, 201)['id']}"
    page = acme.get("/products", params={"item_code": f"E2E-{run}"})
    same = acme.get(page.url, headers={"If-None-Match": page.headers["ETag"]})
    assert (len(data(page)), same.status_code) == (1, 304)
    seen = acme.get(path).headers["ETag"]
    assert seen.startswith('W/"')

    unchanged = acme.get(path, headers={"If-None-Match": seen})
    assert (unchanged.status_code, unchanged.text) == (304, "")
    assert unchanged.headers["ETag"] == seen
    first = acme.patch(path, json={"name": "Drum, red"}, headers={"If-Match": seen})
    assert data(first)["name"] == "Drum, red"

    late = acme.patch(path, json={"name": "Drum, blue"}, headers={"If-Match": seen})
    refused(late, 409, "stale_state")
    changed = acme.get(path, headers={"If-None-Match": seen})
    assert data(changed)["name"] == "Drum, red"
    assert data(acme.delete(path, headers={"If-Match": changed.headers["ETag"]}))

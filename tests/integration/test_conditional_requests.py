"""ETag, If-None-Match and If-Match."""

import pytest

from tests.gateway import Erp
from tests.integration.write_routes import EXAMPLES

BOLT = {"item_code": "BOLT-M8", "name": "Bolt M8"}


@pytest.fixture
def bolt(erp: Erp) -> str:
    return f"/products/{erp.post('/products', BOLT).data['id']}"


def test_unchanged_resource_is_304(erp: Erp, bolt: str) -> None:
    for path in (bolt, "/products", "/products?search=bolt"):
        first = erp.get(path)
        tag = first.headers["ETag"]
        assert tag.startswith('W/"')

        again = erp.get(path, headers={"If-None-Match": f'"other", {tag}'})
        assert (again.status, again.text, again.headers["ETag"]) == (304, "", tag)
        assert erp.get(path, headers={"If-None-Match": '"other"'}).text == first.text

    erp.patch(bolt, {"name": "Bolt M8 zinc"})
    assert erp.get(bolt, headers={"If-None-Match": tag}).status == 200


def test_if_match_with_an_old_tag_refuses_the_change(erp: Erp, bolt: str) -> None:
    seen = erp.get(bolt).headers["ETag"]

    assert erp.patch(bolt, {"name": "A"}, headers={"If-Match": seen}).status == 200
    for refused in (
        erp.patch(bolt, {"name": "B"}, headers={"If-Match": seen}, key="k1"),
        erp.delete(bolt, headers={"If-Match": seen}),
    ):
        assert (refused.status, refused.code) == (409, "stale_state")
    assert erp.get(bolt).data["name"] == "A"

    now = erp.get(bolt).headers["ETag"]
    assert erp.patch(bolt, {"name": "B"}, headers={"If-Match": now}, key="k1").status == 200
    assert erp.patch(bolt, {"name": "C"}, headers={"If-Match": "*"}).status == 200
    assert erp.patch("/products/99", {"name": "C"}, headers={"If-Match": "*"}).status == 404


def test_if_match_applies_to_subscriptions(erp: Erp) -> None:
    example = EXAMPLES["PATCH /webhooks/{id}"]
    hook = f"/webhooks/{example.prepared(erp)['id']}"
    seen = erp.get(hook).headers["ETag"]

    assert erp.patch(hook, example.body, headers={"If-Match": seen}).status == 200
    for refused in (
        erp.delete(hook, headers={"If-Match": seen}),
        erp.post(f"{hook}/rotate-secret", headers={"If-Match": seen}, key="k1"),
    ):
        assert (refused.status, refused.code) == (409, "stale_state")
    now = erp.get(hook).headers["ETag"]
    assert erp.post(f"{hook}/rotate-secret", headers={"If-Match": now}, key="k1").status == 200


def test_retry_with_an_old_tag_gets_the_first_response(erp: Erp, bolt: str) -> None:
    seen = erp.get(bolt).headers["ETag"]
    first = erp.patch(bolt, {"name": "A"}, headers={"If-Match": seen}, key="k1")
    erp.patch(bolt, {"name": "B"})

    again = erp.patch(bolt, {"name": "A"}, headers={"If-Match": seen}, key="k1")

    assert (again.status, again.text) == (200, first.text)

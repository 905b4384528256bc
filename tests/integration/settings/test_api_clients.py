"""The API clients: creation, secrets, changes and revocation."""

import io
from typing import Any

import pytest

from operations.provisioning import set_plan
from tests.cases import each_case
from tests.gateway import Erp
from tests.integration.settings.api_client_requests import (
    create_api_client,
    erp_with_token,
    expire_tenant_cache,
    request_token,
    secret_works,
    stored_client_counts,
)
from tests.integration.write_settings import APPLICATION, ERP
from tests.stack import Stack

# Creation


def test_created_client_has_a_secret_and_its_scopes(stack: Stack, erp: Erp) -> None:
    answer = erp.post("/api-clients", {"name": " Web shop ", "scopes": ["stocks:read"]})

    made = answer.data
    assert answer.headers["Location"].endswith(f"/api-clients/{made['id']}")
    assert made["id"].startswith("stw_acme_")
    assert (made["kind"], made["name"], made["scopes"]) == (
        "integration", "Web shop", ["stocks:read"],
    )  # fmt: skip
    shown = erp.get(f"/api-clients/{made['id']}").data
    assert shown == {name: value for name, value in made.items() if name != "client_secret"}
    shop = erp_with_token(stack, made["id"], made["client_secret"])
    assert shop.get("/stocks").status == 200
    assert shop.get("/products").code == "missing_scope"
    assert request_token(stack, made["id"], made["client_secret"], "products:read").status == 400


def test_mobile_application_has_no_secret_and_no_scopes(stack: Stack, erp: Erp) -> None:
    made = erp.post("/api-clients", {**APPLICATION, "scopes": []}).ok(201)

    assert made["id"].startswith("stm_acme_")
    assert (made["kind"], made["scopes"], made["secrets"]) == ("mobile", [], [])
    assert made["client_secret"] is None
    assert not secret_works(stack, made["id"], "")
    assert not secret_works(stack, made["id"], "sws_guess")
    refused = erp.post(f"/api-clients/{made['id']}/rotate-secret")
    assert (refused.status, refused.code) == (409, "conflict")
    assert erp.delete(f"/api-clients/{made['id']}/previous-secret").status == 404
    assert erp.patch(f"/api-clients/{made['id']}", {"scopes": ["stocks:read"]}).invalid_fields == [
        "scopes"
    ]
    assert erp.patch(f"/api-clients/{made['id']}", {"scopes": []}).ok()["scopes"] == []
    assert erp.patch(f"/api-clients/{made['id']}", {"name": "Tablets"}).data["name"] == "Tablets"
    assert stored_client_counts(stack) == (0, 1)


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({}, ["name", "scopes"]),
        ({"name": "", "scopes": []}, ["name", "scopes"]),
        ({"name": "x" * 101, "scopes": ["products:all", "stocks:read", 5]},
         ["name", "scopes.0", "scopes.2"]),
        ({"name": "a\nb", "scopes": ["stocks:read", "stocks:read"]}, ["name", "scopes.1"]),
        ({"name": None, "scopes": "stocks:read", "kind": "robot"}, ["name", "kind", "scopes"]),
        ({"name": 5, "scopes": None, "kind": None}, ["name", "kind", "scopes"]),
        ({"name": "App", "kind": "mobile", "scopes": ["stocks:read"]}, ["scopes"]),
        ({"name": "\ud800", "scopes": ["stocks:read"]}, ["name"]),
    ],
)  # fmt: skip
def test_create_returns_all_problems(erp: Erp, body: object, fields: list[str]) -> None:
    assert erp.post("/api-clients", body).invalid_fields == fields
    assert erp.get("/api-clients").json()["meta"]["total"] == 0


def test_plan_limits_the_number_of_clients(stack: Stack, erp: Erp) -> None:
    set_plan("acme", "essentials")
    first, _ = (create_api_client(erp, name=name) for name in ("ERP", "Shop"))

    refused = erp.post("/api-clients", ERP)

    assert (refused.status, refused.code) == (402, "limit_reached")
    assert refused.json()["error"]["offer"] == {
        "limit": 2, "used": 2, "plan": "essentials", "next_plan": "professional",
        "upgrade_url": refused.json()["error"]["offer"]["upgrade_url"],
    }  # fmt: skip
    # mobile applications have a separate limit
    for _ in range(10):
        assert erp.post("/api-clients", APPLICATION).status == 201
    offer = erp.post("/api-clients", APPLICATION).json()["error"]["offer"]
    assert (offer["limit"], offer["used"], offer["next_plan"]) == (10, 10, None)
    assert stored_client_counts(stack) == (2, 10)
    # a revoked client does not count
    assert erp.delete(f"/api-clients/{first['id']}").status == 200
    assert erp.post("/api-clients", ERP).status == 201


def test_clients_above_a_reduced_limit_stay_active(erp: Erp) -> None:
    for _ in range(3):
        create_api_client(erp)
    set_plan("acme", "essentials")

    offer = erp.post("/api-clients", ERP).json()["error"]["offer"]

    assert (offer["limit"], offer["used"]) == (2, 3)
    assert erp.get("/api-clients").json()["meta"]["total"] == 3


def test_larger_plan_allows_more_clients_at_once(erp: Erp) -> None:
    set_plan("acme", "essentials")
    expire_tenant_cache()
    for _ in range(2):
        create_api_client(erp)
    assert erp.post("/api-clients", ERP).status == 402
    set_plan("acme", "professional")
    assert erp.post("/api-clients", ERP).status == 201


# Secrets


def test_two_newest_secrets_are_valid_during_a_rotation(stack: Stack, erp: Erp) -> None:
    first = create_api_client(erp)
    path, secrets = f"/api-clients/{first['id']}", [first["client_secret"]]
    shop = erp_with_token(stack, first["id"], secrets[0])
    secrets += [erp.post(f"{path}/rotate-secret").ok()["client_secret"] for _ in range(2)]

    assert [secret_works(stack, first["id"], secret) for secret in secrets] == [False, True, True]
    assert len(erp.get(path).data["secrets"]) == 2
    ended = erp.delete(f"{path}/previous-secret")
    assert (ended.status, len(ended.data["secrets"])) == (200, 1)
    assert [secret_works(stack, first["id"], secret) for secret in secrets] == [False, False, True]
    assert erp.delete(f"{path}/previous-secret").status == 404
    expire_tenant_cache()
    assert shop.get("/products").status == 200, "tokens stay valid when a secret is deleted"


@pytest.mark.usefixtures("clock")  # a token after a revocation waits for the next second
def test_rotation_without_previous_secret_revokes_secrets_and_tokens(
    stack: Stack, erp: Erp
) -> None:
    first = create_api_client(erp)
    shop = erp_with_token(stack, first["id"], first["client_secret"])
    path = f"/api-clients/{first['id']}/rotate-secret"

    second = erp.post(path, {"keep_previous": False}).data

    assert not secret_works(stack, first["id"], first["client_secret"])
    again = erp_with_token(stack, first["id"], second["client_secret"])
    expire_tenant_cache()
    assert shop.get("/products").code == "unauthenticated"
    assert again.get("/products").status == 200


@pytest.mark.parametrize("body", [{"keep_previous": None}, {"keep_previous": 1}])
def test_invalid_rotation_changes_nothing(stack: Stack, erp: Erp, body: object) -> None:
    made = create_api_client(erp)
    path = f"/api-clients/{made['id']}"
    assert erp.post(f"{path}/rotate-secret", body).invalid_fields == ["keep_previous"]
    assert secret_works(stack, made["id"], made["client_secret"])
    assert len(erp.get(path).data["secrets"]) == 1


def test_log_contains_no_secret(
    stack: Stack, erp: Erp, log: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A secret in an error message is redacted, too."""
    made = create_api_client(erp)
    path = f"/api-clients/{made['id']}/rotate-secret"
    rotated = erp.post(path, key="rotation").data
    assert erp.post(path, key="rotation").data == rotated
    assert not secret_works(stack, made["id"], rotated["client_secret"] + "x")

    def careless(client_id: str, secret: str) -> bytes:
        raise RuntimeError(f"cannot hash {secret} of {client_id}")

    monkeypatch.setattr("shared.identity.auth.client_service.secret_digest", careless)
    assert erp.post(path).status == 500

    lines = log.getvalue()
    assert "cannot hash [secret] of" in lines
    assert made["id"] in lines
    assert "sws_" not in lines


# Changes


@pytest.mark.usefixtures("clock")
def test_removed_scope_revokes_tokens_and_added_scope_does_not(stack: Stack, erp: Erp) -> None:
    made = create_api_client(erp)
    path, secret = f"/api-clients/{made['id']}", made["client_secret"]
    shop = erp_with_token(stack, made["id"], secret)

    erp.patch(path, {"scopes": [*ERP["scopes"], "warehouses:read"]}).ok()
    expire_tenant_cache()
    assert shop.get("/products").status == 200
    assert shop.get("/warehouses").code == "missing_scope", "a token keeps its scopes"

    assert erp.patch(path, {"scopes": ["warehouses:read"]}).data["scopes"] == ["warehouses:read"]
    expire_tenant_cache()
    assert shop.get("/products").code == "unauthenticated"
    again = erp_with_token(stack, made["id"], secret)
    assert again.get("/warehouses").status == 200
    assert again.get("/products").code == "missing_scope"


def test_only_sent_fields_change_and_equal_values_change_nothing(erp: Erp) -> None:
    made = create_api_client(erp)
    path = f"/api-clients/{made['id']}"
    before = erp.get(path)

    for body in ({}, {"name": "ERP"}, {"scopes": ERP["scopes"]}, {"kind": "mobile", "id": "x"}):
        answer = erp.patch(path, body)
        assert answer.data == {**before.data, "webhooks": [] if "scopes" in body else None}
        assert answer.headers["ETag"] == before.headers["ETag"]
    assert erp.get("/audit-log", query={"action": "client.changed"}).data == []
    renamed = erp.patch(path, {"name": "Shop"}).data
    assert (renamed["name"], renamed["scopes"]) == ("Shop", ERP["scopes"])
    assert renamed["updated_at"] >= made["updated_at"]
    stale = erp.patch(path, {"name": "ERP"}, headers={"If-Match": before.headers["ETag"]})
    assert (stale.status, stale.code) == (409, "stale_state")


# Revoking


def test_revoked_client_is_gone(stack: Stack, erp: Erp) -> None:
    made = create_api_client(erp)
    path = f"/api-clients/{made['id']}"
    shop = erp_with_token(stack, made["id"], made["client_secret"])
    assert stored_client_counts(stack) == (1, 0)

    assert erp.delete(path).data == {**without_secret(made), "webhooks": []}

    assert not secret_works(stack, made["id"], made["client_secret"])
    expire_tenant_cache()
    assert shop.get("/products").code == "unauthenticated"
    for answer in (
        erp.get(path),
        erp.patch(path, {"name": "x"}),
        erp.delete(path),
        erp.post(f"{path}/rotate-secret"),
        erp.delete(f"{path}/previous-secret"),
    ):
        assert (answer.status, answer.code) == (410, "gone")
    assert erp.get("/api-clients").data == []
    assert stored_client_counts(stack) == (0, 0)


def without_secret(made: dict[str, Any]) -> dict[str, Any]:
    """Return a client without its secret."""
    return {name: value for name, value in made.items() if name != "client_secret"}


# Clients that cannot be accessed


@each_case(
    "client_id",
    [
        "stw_acme_0123456789abcdef01234567",  # of the tenant, does not exist
        "stw_beta_0123456789abcdef01234567",
        "stw_acme_0123456789ABCDEF01234567",
        "stw_acme_",
        "stx_acme_0123456789abcdef01234567",
        "999",
        "%00",
        "..",
        "x" * 1_000,
    ],
)
def test_unknown_and_malformed_ids_return_not_found(erp: Erp, client_id: str) -> None:
    answer = erp.get(f"/api-clients/{client_id}")
    assert (answer.status, answer.code) == (404, "not_found")

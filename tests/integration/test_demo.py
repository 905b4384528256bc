"""The demo and the sample work run in any tenant, repeatedly, and only on a running stack."""

import http.server
import json
import threading
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner
from rich.progress import Progress
from stowage_client import Stowage

from local import demo, sample
from local.demo_approvals import run_approvals_demo
from local.demo_imports import TenantBucket
from local.demo_places import DESTINATION, ORIGIN, ensure_places
from local.demo_session import Demo
from local.sample_operations import SampleOperations
from local.server import LocalRunFailed
from local.tenant_access import NOT_RUNNING, RunningStack, tenant_access
from operations import provisioning
from operations.api_clients import create_client, show_client
from shared.identity.tenancy.tenant import MODULES
from shared.kernel.errors import Gone
from tests.clock import Clock
from tests.gateway import Erp
from tests.integration.test_python_client import FaultyTransport
from tests.stack import ADDRESS, Stack
from tests.stock_invariants import assert_invariants
from tests.warehouse_scenario import WarehouseScenario

STACK = RunningStack("http://127.0.0.1:4566", "imports", {"acme": {}})


@pytest.fixture
def connect(stack: Stack, clock: Clock) -> Callable[[str], Stowage]:
    """Connect the example client to a tenant of the in-process stack."""

    def connected(slug: str) -> Stowage:
        http_client = httpx.Client(transport=FaultyTransport(stack.gateway))
        credentials = create_client(slug, "Demo")
        return Stowage(ADDRESS, *credentials, http_client, clock.advance, clock.monotonic)

    return connected


def run(stowage: Stowage) -> dict[str, str]:
    """Run the demo, assert that each step succeeds, and return the outcomes by title."""
    played = Demo(stowage)
    demo.run_demo(played, TenantBucket("imports", "beta"))
    assert [row for row in played.rows if not row[3]] == []
    return {title: outcome for title, _, outcome, _ in played.rows}


def test_demo_runs_twice_in_a_tenant_without_data(
    connect: Callable[[str], Stowage], stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    provisioning.switch_modules("beta", off=["bulk_import"])
    provisioning.set_settings("beta", {"gs1_company_prefix": "4006381"})
    monkeypatch.setattr(demo, "run_webhooks_demo", lambda *_: None)
    monkeypatch.setattr("local.demo_warehouse._WAVE_ORDERS", 2)
    stowage = connect("beta")

    first, second = run(stowage), run(stowage)

    assert first.keys() == second.keys()
    assert first["Import files"] == "skipped: the module is disabled"
    assert {row["whs_code"] for row in stowage.each("/warehouses")} == {ORIGIN, DESTINATION}
    assert_invariants(stack.store("beta"))


def test_demo_skips_what_the_plan_and_the_modules_exclude(
    connect: Callable[[str], Stowage], stack: Stack
) -> None:
    WarehouseScenario.with_master_data(stack.erp(), "YARD")
    provisioning.set_plan("acme", "essentials")
    provisioning.switch_modules("acme", off=MODULES)
    provisioning.set_settings("acme", {"receipt_tolerance": Decimal(25)})

    outcomes = run(connect("acme"))

    skipped = {title for title, outcome in outcomes.items() if outcome.startswith("skipped")}
    assert skipped == {
        "Import files", "Receive webhooks", "A transfer order from Birmingham to Dublin",
        "A wave of 10 orders", "The label of the carton",
    }  # fmt: skip


def test_demo_of_approvals_lets_the_request_pass_once(
    connect: Callable[[str], Stowage], stack: Stack
) -> None:
    played = Demo(connect("acme"))
    ensure_places(played)
    with httpx.Client(transport=FaultyTransport(stack.gateway)) as http_client:
        run_approvals_demo(played, "run", http_client, "acme")
    assert [row for row in played.rows if not row[3]] == []
    assert [row["status"] for row in stack.erp().walk("/approvals", sort="created_at")] == [
        "used", "pending",
    ]  # fmt: skip


# Access to the stack


def _served(status: int) -> Iterator[str]:
    """Serve every request with a status."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def another_server() -> Iterator[str]:
    """Address of a server on this machine that is not the stack."""
    yield from _served(404)


@pytest.fixture
def ready_server() -> Iterator[str]:
    """Address of a server that is ready, and deploys nothing."""
    yield from _served(200)


def _stack_file(folder: Path, content: object) -> Path:
    file = folder / "stack.json"
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    return file


def _content(endpoint: str) -> dict[str, Any]:
    tenant = {"plan": "enterprise", "base_url": f"{endpoint}/api/v1"}
    tenant |= {"client_id": "c", "client_secret": "s"}
    return {"endpoint_url": endpoint, "import_bucket": "imports", "tenants": {"acme": tenant}}


def _assert_refused(file: Path, sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert demo.main(["--stack", str(file)]) == 1
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", f"{sentence}\n")
    loaded = CliRunner().invoke(sample.main, ["--stack-file", str(file)])
    assert (loaded.exit_code, loaded.output) == (1, f"Error: {sentence}\n")


@pytest.mark.parametrize(
    "content", [None, "", "{", "[]", {}, {**_content("http://127.0.0.1:1"), "tenants": None}]
)
def test_demo_without_a_running_stack_says_to_run_it(
    content: object, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "stack.json" if content is None else _stack_file(tmp_path, content)

    _assert_refused(file, NOT_RUNNING, capsys)


def test_demo_with_a_stale_stack_file_says_to_run_the_stack(
    another_server: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for endpoint in ("http://127.0.0.1:1", another_server, "nonsense"):
        _assert_refused(_stack_file(tmp_path, _content(endpoint)), NOT_RUNNING, capsys)


def test_demo_with_credentials_of_another_stack_says_to_run_it(
    ready_server: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("local.tenant_access.aws_environment", lambda _: {})
    sentence = (
        "The local stack does not know the credentials of tenant acme (501): run `make run` first."
    )

    _assert_refused(_stack_file(tmp_path, _content(ready_server)), sentence, capsys)


def test_any_tenant_is_accessible_by_name(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("local.tenant_access.aws_environment", lambda _: {})
    monkeypatch.setattr("local.tenant_access.deployment.operator_environment", dict)

    with (
        tenant_access(STACK, "beta") as tenant,
        httpx.Client(transport=FaultyTransport(stack.gateway)) as client,
    ):
        assert tenant.client(client).get("/products") == []
    with pytest.raises(Gone):
        show_client(tenant.client_id)
    with (
        pytest.raises(LocalRunFailed, match=r"Tenant nobody does not exist\. Tenants: acme\."),
        tenant_access(STACK, "nobody"),
    ):
        pass


# The sample work


def test_sample_work_is_done_once_beside_other_work(erp: Erp, stack: Stack, tmp_path: Path) -> None:
    yard = WarehouseScenario.with_master_data(erp, "YARD")
    yard.stock("BRICK", 50)
    erp.post("/waves", {"warehouse_code": "YARD", "strategy": "batch",
                        "picking_ids": [yard.picking(yard.order(("BRICK", 1)))["id"]]})  # fmt: skip
    line = {"item_code": "BRICK", "qty": 2, "from_bin": "A-01", "to_bin": "B-01"}
    move = {"from_warehouse": "YARD", "to_warehouse": "YARD", "lines": [line]}
    for execute in (True, False):
        erp.post("/transfers", {**move, "lines": [line | {"to_bin": "F-01"}], "execute": execute})
    yard.picking(yard.order(("BRICK", 3)))
    order = {
        "external_ref": "PO-1", "type": "purchase_order", "doc_date": "2026-03-01",
        "partner_code": "P-1", "warehouse_code": "YARD",
        "lines": [{"item_code": "BRICK", "qty": 3, "destination_bin": "A-01"}],
    }  # fmt: skip
    assert erp.post("/entry-documents", order, key="order").status == 201
    assert erp.post("/receipts", {"document_id": 1}).status == 201
    assert erp.post("/receipts/1/start").status == 200
    (tmp_path / "entry_documents.json").write_text(json.dumps([order]))
    (tmp_path / "products.csv").write_text("item_code,man_btch_num,man_ser_num\nBRICK,,\n")
    yard.order(("BRICK", 2))
    face = {
        "warehouse_code": "YARD",
        "bin_code": "P-01",
        "item_code": "BRICK",
        "minimum": 1,
        "maximum": 1,
    }
    assert erp.post("/warehouse-positions", {"whs_code": "YARD", "bin_code": "P-01"}).status == 201
    plan = {
        "packaging": [{"item_code": "BRICK", "packaging": {"gtins": [{"gtin": "96385074"}]}}],
        "receipts": [], "transfer_orders": [],
        "approvals": [{"external_ref": "PO-1", "qty": 9}],
        "pickings": [{"external_ref": "SO-3", "state": "shipped"}],
        "returns": [{"external_ref": "RMA-1", "order": "SO-3", "state": "dispositioned", "qty": 2,
                     "reason": "not_wanted", "action": "restock"}],
        "adjustments": [{"item_code": "BRICK", "warehouse": "YARD", "bin_code": "A-01",
                         "decrease": 1, "reason": "Broken"}],
        "transfers": [move | {"reason": "Replenish"},
                      move | {"reason": "Tonight", "execute": False,
                              "lines": [line | {"qty": 4}]}],
        "waves": [{"external_refs": ["SO-2"],
                   "wave": {"warehouse_code": "YARD", "strategy": "batch"}}],
        "pick_faces": [{"replenish": True, "pick_face": face}],
        "counts": [{"count": {"warehouse_code": "YARD", "item_codes": ["BRICK"], "comments": "-"},
                    "lines": [{"bin_code": "A-01", "item_code": "BRICK", "qty": 1}]}],
    }  # fmt: skip
    (tmp_path / "operations.json").write_text(json.dumps(plan))
    assert erp.patch("/products/1", {"barcode": "4006381333931"}).status == 200
    http_client = httpx.Client(transport=FaultyTransport(stack.gateway))
    api = sample.TokenClient(ADDRESS, token=erp.token or "", http=http_client)
    work = SampleOperations(api, tmp_path)

    with Progress(disable=True) as progress:
        results = [work.run(progress) for _ in range(2)]

    made = [{result.title: (result.created, result.existing) for result in run} for run in results]
    nothing = dict.fromkeys(("receipts", "transfer orders"), (0, 0))
    once = (
        "packaging of products", "approvals", "stock corrections", "pickings", "returns", "waves",
        "pick faces", "counts",
    )  # fmt: skip
    assert made == [
        nothing | dict.fromkeys(once, (1, 0)) | {"transfers": (2, 0)},
        nothing | dict.fromkeys(once, (0, 1)) | {"transfers": (0, 2)},
    ]
    assert [one["status"] for one in erp.walk("/counts")] == ["counting"]
    assert [row["result"] for row in erp.walk("/rfid-validations")] == ["passed"]
    [approval] = erp.walk("/approvals")
    assert (approval["status"], approval["request"]["body"]["qty"]) == ("pending", 9)
    assert_invariants(stack.store())

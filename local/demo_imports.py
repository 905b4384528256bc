"""The demonstration of imports: validation, error report, commit, and a drop into the bucket."""

import json
import time
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import httpx
from openpyxl import load_workbook

from local.demo_places import ORIGIN
from local.demo_session import Demo, DemoFailed
from shared.kernel.aws import client

_TIMEOUT_SECONDS = 240
"""How long the result of a dropped file may take."""

_CATALOGUE = """\
Item code,Name,Managed by batch
DEMO-{run}-TIE,"Cable tie 200 mm, demo",no
DEMO-{run}-TAPE,,perhaps
DEMO-{run}-LUG,"Cable lug, demo",no
DEMO-{run}-TIE,"Cable tie 300 mm, demo",no
,"Cable gland, demo",no
"""
_ORDERS = """\
Reference;Type;Document date;Client code;Warehouse;Item code;Quantity
SO-S1-{run};Sales order;02/03/2026;C-200;{warehouse};DEMO-{run}-LUG;12,5
SO-S2-{run};Sales order;02/03/2026;C-200;{warehouse};DEMO-{run}-LUG;3
SO-S1-{run};Sales order;02/03/2026;C-200;{warehouse};DEMO-{run};1
"""


@dataclass(frozen=True, slots=True)
class TenantBucket:
    """The tenant's files in the import bucket."""

    name: str
    tenant: str

    def put(self, file: str, content: bytes) -> None:
        """Write a file."""
        client("s3").put_object(Bucket=self.name, Key=f"{self.tenant}/{file}", Body=content)

    def await_file(self, file: str) -> str:
        """Return a file as soon as it exists; raise DemoFailed after a timeout."""
        deadline = time.monotonic() + _TIMEOUT_SECONDS
        s3 = client("s3")
        while time.monotonic() < deadline:
            try:
                found = s3.get_object(Bucket=self.name, Key=f"{self.tenant}/{file}")
            except s3.exceptions.NoSuchKey:
                time.sleep(0.2)
            else:
                text: str = found["Body"].read().decode()
                return text
        raise DemoFailed(
            f"{file} did not appear in the bucket {self.name} within {_TIMEOUT_SECONDS} s"
        )


def run_imports_demo(demo: Demo, run: str, bucket: TenantBucket) -> None:
    """Import products with errors, and orders for the valid products."""
    _catalogue(demo, run)
    _drop(demo, run, bucket)


def _catalogue(demo: Demo, run: str) -> None:
    file = {"file": ("catalogue.csv", _CATALOGUE.format(run=run).encode())}
    form: dict[str, Any] = {"data": {"kind": "products"}, "files": file}
    one = demo.step(
        "Upload a file of products with errors", demo.send("POST", "/imports", **form), 202,
        "{data[status]}: {data[rows][valid]} of {data[rows][total]} rows are valid",
    )["data"]  # fmt: skip
    path = f"/imports/{one['id']}"
    demo.step(
        "Download the error report", demo.send("GET", f"{path}/error-report"),
        200, "\n".join, read=_errors,
    )  # fmt: skip
    committed = "{data[status]}: {data[documents][committed]} products"
    demo.post("Commit the valid rows", f"{path}/commit", None, committed, expected=202)
    demo.post("Commit the import again", f"{path}/commit", None, "{error[code]}", expected=409)
    again = demo.send("POST", "/imports", **form)
    demo.step("Upload the same file again", again, 202, "{warning}")


def _errors(report: httpx.Response) -> list[str]:
    """Return the problems in an error report."""
    sheet = load_workbook(BytesIO(report.content)).worksheets[0]
    problems = []
    for row, names, reasons, *_ in sheet.iter_rows(min_row=2, values_only=True):
        pairs = zip(str(names or "").split("\n"), str(reasons).split("\n"), strict=True)
        problems += [f"row {row}: {name} {reason}" for name, reason in pairs]
    return problems


def _drop(demo: Demo, run: str, bucket: TenantBucket) -> None:
    name = f"exit_documents/orders-{run}.csv"
    bucket.put(f"drop/{name}", _ORDERS.format(run=run, warehouse=ORIGIN).encode())
    one = json.loads(bucket.await_file(f"drop/{name}.result.json"))
    demo.check(
        "Drop a file of orders into the import bucket",
        "{status}: {documents[valid]} orders of {rows[total]} rows".format(**one),
        passed=one["rows"]["error"] == 0,
    )
    if one["status"] == "validated":  # not if drops are committed automatically
        demo.call(f"/imports/{one['id']}/commit")
    demo.step(
        "Read an order that the import created",
        demo.send("GET", "/exit-documents", params={"external_ref": f"SO-S1-{run}"}), 200,
        "{data[0][doc_num]}, {data[0][status]}, source {data[0][source]}",
    )  # fmt: skip
    name = f"people/staff-{run}.csv"
    bucket.put(f"drop/{name}", b"Name\nAda\n")
    reason = bucket.await_file(f"rejected/{name}.reason.txt")
    demo.check(
        "Drop a file of an unknown kind: it is moved to the rejected files",
        reason.strip(),
        passed="people" in reason,
    )

"""Large files of imports go to the storage and come from it, past the interface.

The local stack has interface and storage at one address. `localhost` is another origin than
`127.0.0.1`, as the storage is on AWS.
"""

import base64
import os
import re
from pathlib import Path

import httpx
from playwright.sync_api import expect

from tests.e2e.console.person import Person

ROWS = 100_000


def test_file_of_100_000_rows_and_its_report(
    person: Person, acme: httpx.Client, tmp_path: Path
) -> None:
    # what cannot be compressed makes the report large
    names = [base64.b64encode(os.urandom(30)).decode() for _ in range(ROWS)]
    sheet = tmp_path / "nameless.csv"
    sheet.write_text("\n".join(["Item code,Name", *(f",{name}" for name in names)]))
    person.address = person.address.replace("127.0.0.1", "localhost")
    page = person.page
    calls: list[str] = []
    page.on("response", lambda answer: calls.append(f"{answer.status} {answer.url}"))
    person.start("imports/new")
    page.locator("input[type=file]").set_input_files(sheet)
    person.press("Upload")
    expect(person.shown("Status")).to_have_text("Invalid", timeout=120_000)
    assert [one for one in calls if re.match(r"20\d http://127\.0\.0\.1:\d+/[\w-]*import", one)]
    number = page.url.rsplit("/", 1)[1]
    assert acme.get(f"/imports/{number}").json()["data"]["rows"]["error"] == ROWS

    expect(page.get_by_text("The first 200 rows.")).to_be_visible(timeout=60_000)
    expect(person.rows()).to_have_count(200)
    expect(person.rows().first).to_contain_text(names[0])
    assert [one for one in calls if one.startswith("302 http://localhost")]
    with page.expect_download() as download:
        person.press("Download the report")
    assert download.value.suggested_filename == f"import-{number}-errors.xlsx"
    assert Path(download.value.path()).stat().st_size > 4_000_000

"""The audit log: who changed what, and its filters."""

import httpx
from playwright.sync_api import expect

from tests.e2e.console.person import Person, fill


def test_change_is_in_the_audit_log_with_its_actor_and_details(
    person: Person, acme: httpx.Client, run: str
) -> None:
    page = person.page
    draft = {"name": f"Packers {run}", "permissions": ["exits.manage"]}
    role = acme.post("/roles", json=draft).json()["data"]["id"]
    person.start(f"roles/{role}")
    person.press("Change")
    dialog = page.get_by_role("dialog")
    fill(dialog, {"Name": f"Pickers {run}"})
    dialog.get_by_role("button", name="Save").click()
    expect(person.heading()).to_have_text(f"Pickers {run}")

    person.go("audit-log")
    person.press("Filters")
    fill(dialog, {"Action": "Role changed", "Target type": "Role", "Target": str(role)})
    dialog.get_by_role("button", name="Apply").click()
    expect(page.get_by_text("1 to 1 of 1")).to_be_visible()
    row = person.rows().first
    expect(row).to_contain_text("Role changed")
    name = person.username.partition("@")[0]
    expect(row).to_contain_text(f"Person {name}")
    expect(row).to_contain_text(f"Name: From: Packers {run}To: Pickers {run}")
    page.get_by_role("button", name="Action: Role changed").click()
    expect(page.get_by_text("1 to 2 of 2")).to_be_visible()

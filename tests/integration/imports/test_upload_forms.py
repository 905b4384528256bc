"""A presigned form uploads one file of limited size to one key, for a quarter of an hour."""

import base64
import json
from datetime import UTC, datetime, timedelta

import pytest

from shared.integration.imports.models import MAX_FILE_BYTES
from tests.import_scenario import ImportScenario


@pytest.mark.parametrize("name", ["goods.csv", "../../beta/uploads/1/${filename}.csv"])
def test_form_is_bound_to_one_key_and_size_for_a_quarter_of_an_hour(
    name: str, scenario: ImportScenario
) -> None:
    before = datetime.now(UTC)
    answer = scenario.erp.post("/imports/uploads", {"kind": "products", "filename": name})

    fields = answer.data["upload"]["fields"]
    signed = json.loads(base64.b64decode(fields["policy"]))
    key, import_id = fields["key"], answer.data["id"]
    assert key.startswith(f"acme/uploads/{import_id}/")
    assert key.count("/") == 3
    assert "$" not in key, "S3 replaces ${filename} in a key"
    assert {"key": key} in signed["conditions"]
    assert ["content-length-range", 1, MAX_FILE_BYTES] in signed["conditions"]
    ends = datetime.fromisoformat(signed["expiration"])
    assert ends - before <= timedelta(minutes=15, seconds=5)

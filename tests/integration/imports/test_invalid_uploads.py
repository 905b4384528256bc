"""Invalid uploads are refused, and nothing is stored."""

import pytest

from shared.integration.imports.models import MAX_REQUEST_FILE_BYTES
from shared.kernel import aws
from shared.kernel.config import config
from tests.cases import each_case
from tests.gateway import Form, Response
from tests.import_scenario import ImportScenario
from tests.integration.imports.import_files import as_csv
from tests.integration.imports.outcome import all_imports

GOODS = as_csv([["item_code", "name"], ["A", "Good"]])
GOOD = Form({"kind": "products"}, ("goods.csv", GOODS))
REPEATED = {
    "kind": Form({"kind": "products", "kind2": "products"}, GOOD.file)
    .encoded()
    .replace(b"kind2", b"kind"),
    "file": GOOD.encoded().replace(b'name="kind"', b'name="file"; filename="a.csv"'),
    # as a text and as an object
    "options": Form(
        {"kind": "products", "options": "x", "options[on_duplicate]": "skip"}
    ).encoded(),
}
"""Field → a form that has it twice."""


def work_files() -> int:
    """Return how many files the imports of all tenants have stored."""
    listed = aws.client("s3").list_objects_v2(Bucket=config().import_work_bucket)
    number: int = listed["KeyCount"]
    return number


def post(scenario: ImportScenario, body: bytes, key: str | None = None) -> Response:
    """POST an encoded form."""
    headers = {"Content-Type": GOOD.media}
    return scenario.erp.send("POST", "/imports", raw=body, headers=headers, key=key)


def test_a_repeated_field_is_refused(scenario: ImportScenario) -> None:
    for field, body in REPEATED.items():
        assert field in post(scenario, body).invalid_fields, field
    assert all_imports(scenario) == []


def test_json_is_refused_where_a_form_is_required(scenario: ImportScenario) -> None:
    answer = scenario.erp.post("/imports", {"kind": "products"})
    assert (answer.status, answer.code) == (400, "bad_request")
    assert "multipart/form-data" in answer.json()["message"]


def test_a_form_is_refused_where_json_is_required(scenario: ImportScenario) -> None:
    answer = scenario.erp.post("/imports/uploads", GOOD)
    assert (answer.status, answer.code) == (400, "bad_request")


@pytest.mark.parametrize(
    ("form", "fields"),
    [
        (Form({}), ["kind", "file"]),
        (Form({"kind": "products"}), ["file"]),
        (Form({"kind": "products", "file": "item_code,name"}), ["file"]),
        (Form({"kind": ""}, GOOD.file), ["kind"]),
        (Form({"kind": "stock"}, GOOD.file), ["kind"]),
        (Form({"kind": "Products"}, GOOD.file), ["kind"]),
        (
            Form(
                {
                    "kind": "stock",
                    "options[on_duplicate]": "overwrite",
                    "options[auto_allocate]": "perhaps",
                }
            ),
            ["kind", "file", "options.on_duplicate", "options.auto_allocate"],
        ),
        (Form({"kind": "products", "options": "skip"}, GOOD.file), ["options"]),
    ],
    ids=str,
)
def test_all_invalid_fields_are_reported_together(
    form: Form, fields: list[str], scenario: ImportScenario
) -> None:
    answer = scenario.erp.post("/imports", form)
    assert answer.invalid_fields == fields
    assert all_imports(scenario) == []


def test_booleans_in_forms_are_texts(scenario: ImportScenario) -> None:
    for text in ("true", "TRUE", "1", "false", "0", "", " true "):
        fields = {"kind": "products", "options[auto_allocate]": text, "unknown": "x"}
        assert scenario.erp.post("/imports", Form(fields, GOOD.file)).status == 202, text


def test_an_empty_option_of_a_form_counts_as_absent(scenario: ImportScenario) -> None:
    fields = {"kind": "products", "options[on_duplicate]": "", "options[auto_allocate]": ""}
    assert scenario.erp.post("/imports", Form(fields, GOOD.file)).status == 202


def test_other_types_of_files_are_refused(scenario: ImportScenario) -> None:
    for name in ("goods.exe", "goods.csv.exe", "goods", "goods.xlsm", ".", "csv", "a.csv/b"):
        body = {"kind": "products", "filename": name}
        for answer in (
            scenario.upload("products", name, GOODS),
            scenario.erp.post("/imports/uploads", body),
        ):
            assert (answer.status, answer.code) == (422, "import_refused"), answer.text
    assert scenario.upload("products", "", GOODS).status == 422
    assert all_imports(scenario) == []


@each_case("key", [None, "K-1"])
@each_case(
    "name",
    [
        *(f"{charset}''goods.csv" for charset in ("idna", "undefined", "utf-16", "utf-8-sig")),
        "unicode_escape''%5Cud800.csv",
        "utf-7''+2AA-.csv",
        "UTF-8''%ED%A0%80.csv",
        "",
    ],
)
def test_file_name_that_cannot_be_decoded_is_refused_before_anything_is_stored(
    scenario: ImportScenario, name: str, key: str | None
) -> None:
    encoded = GOOD.encoded().replace(b'filename="goods.csv"', f"filename*={name}".encode())
    before, files = scenario.stack.items(), work_files()
    answer = post(scenario, encoded, key)
    assert answer.invalid_fields == ["file"]
    assert (scenario.stack.items(), work_files()) == (before, files)
    assert scenario.take_messages() == []


def test_undecodable_file_name_is_reported_with_the_other_problems(
    scenario: ImportScenario,
) -> None:
    encoded = GOOD.encoded().replace(b'filename="goods.csv"', b"filename*=idna''goods.csv")
    answer = post(scenario, encoded.replace(b"products", b"stock"))
    assert answer.invalid_fields == ["kind", "file"]


def test_file_name_above_200_characters_is_refused(scenario: ImportScenario) -> None:
    for length in (200, 201):
        name = "x" * (length - 4) + ".csv"
        form = scenario.upload("products", name, GOODS)
        body = {"kind": "products", "filename": name}
        request = scenario.erp.post("/imports/uploads", body)
        if length <= 200:
            assert (form.status, request.status) == (202, 201)
            assert form.data["file"] == request.data["file"] == name
        else:
            problems = [answer.json()["errors"] for answer in (form, request)]
            assert problems == [
                [{"field": "file", "message": "must have a file name of at most 200 characters"}],
                [{"field": "filename", "message": "must have at most 200 characters"}],
            ]


def test_file_names_are_stored_without_folders(scenario: ImportScenario) -> None:
    for sent, kept in {
        "../../etc/goods.csv": "goods.csv",
        "C:\\files\\goods.csv": "goods.csv",
        "año.csv": "año.csv",
        "an\u0303o.csv": "año.csv",
        " goods.csv ": "goods.csv",
        f"{'x' * 180}.csv": f"{'x' * 180}.csv",
        "a;b=c.CSV": "a;b=c.CSV",
        "a|b.csv": "a_b.csv",
    }.items():
        answer = scenario.upload("products", sent, GOODS)
        assert (answer.status, answer.data["file"]) == (202, kept)
        body = {"kind": "products", "filename": sent}
        requested = scenario.erp.post("/imports/uploads", body)
        assert (requested.status, requested.data["file"]) == (201, kept)
        number = requested.data["id"]
        assert requested.data["upload"]["fields"]["key"] == f"acme/uploads/{number}/{kept}"


@pytest.mark.parametrize(
    ("size", "code"),
    [
        (MAX_REQUEST_FILE_BYTES + 1, "import_refused"),
        (4_700_000, "import_refused"),
        # The gateway answers; the function is not called.
        (4_900_000, "payload_too_large"),
        (5_000_001, "payload_too_large"),
    ],
)
def test_a_file_that_is_too_large_for_a_request_is_answered_with_the_other_channels(
    scenario: ImportScenario, size: int, code: str
) -> None:
    content = (b"item_code,name\n" + b"A,Good\n" * 900_000)[:size]
    answer = scenario.upload("products", "goods.csv", content)
    assert (answer.status, answer.code) == (413, code)
    assert_names_other_channels(answer.json()["message"])
    assert all_imports(scenario) == []


def test_a_file_of_the_largest_size_passes_the_gateway_with_long_fields_and_headers(
    scenario: ImportScenario,
) -> None:
    content = (b"item_code,name\n" + b"A,Good\n" * 900_000)[:MAX_REQUEST_FILE_BYTES]
    fields = {"kind": "products", "other": "x" * 10_000}
    scenario.erp.upload(
        "/imports", fields, ("goods.csv", content), headers={"X-Other": "x" * 10_000}
    ).ok(202)


def assert_names_other_channels(message: str) -> None:
    assert "4.5 MB" in message
    assert "POST /imports/uploads" in message
    assert "import bucket" in message

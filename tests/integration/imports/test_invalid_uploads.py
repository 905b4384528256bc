"""Uploads that are no good as forms: each refused in words that help, and nothing is kept."""

import pytest

from shared.integration.imports.models import MAX_REQUEST_FILE_BYTES
from shared.integration.imports.upload_checks import ensure_acceptable
from shared.kernel.errors import ImportRefused
from tests.gateway import Form, Response
from tests.import_scenario import ImportDesk
from tests.integration.imports.import_files import as_csv
from tests.integration.imports.outcome import imports

GOODS = as_csv([["item_code", "name"], ["A", "Good"]])
GOOD = Form({"kind": "products"}, ("goods.csv", GOODS))
CASES = {
    "another content type": ("text/csv", GOODS),
    "no boundary": ("multipart/form-data", GOOD.encoded()),
    "another boundary": ("multipart/form-data; boundary=other", GOOD.encoded()),
    "an empty body": (GOOD.media, b""),
    "cut off in the file": (GOOD.media, GOOD.encoded()[:-45]),
    "cut off in the head": (GOOD.media, GOOD.encoded()[:60]),
    "a part without a name": (
        GOOD.media,
        GOOD.encoded().replace(b'form-data; name="kind"', b"form-data"),
    ),
    "a field that is no UTF-8": (
        GOOD.media,
        GOOD.encoded().replace(b"\r\nproducts\r\n", b"\r\n\xff\xfe\r\n"),
    ),
    "a field of many bytes": (GOOD.media, Form({"kind": "x" * 20_000}, GOOD.file).encoded()),
    "a hundred fields": (
        GOOD.media,
        Form({f"f{n}": "x" for n in range(100)} | {"kind": "products"}, GOOD.file).encoded(),
    ),
}
REPEATED = {
    "a field twice": (
        GOOD.media,
        Form({"kind": "products", "kind2": "products"}, GOOD.file)
        .encoded()
        .replace(b"kind2", b"kind"),
    ),
    "two files": (
        GOOD.media,
        Form({"kind": "products"}, GOOD.file)
        .encoded()
        .replace(b'name="kind"', b'name="file"; filename="a.csv"'),
    ),
    "options as a text and as an object": (
        GOOD.media,
        Form({"kind": "products", "options": "x", "options[on_duplicate]": "skip"}).encoded(),
    ),
}


def post(desk: ImportDesk, media: str, body: bytes) -> Response:
    return desk.erp.send("POST", "/imports", raw=body, headers={"Content-Type": media})


def test_what_is_no_form_is_a_bad_request(desk: ImportDesk) -> None:
    before = len(desk.stack.items())
    for name, (media, body) in CASES.items():
        answer = post(desk, media, body)
        assert (answer.status, answer.code) == (400, "bad_request"), (name, answer.text)
    assert len(desk.stack.items()) == before
    assert desk.take() == []


def test_what_is_sent_twice_is_not_valid(desk: ImportDesk) -> None:
    for (name, (media, body)), field in zip(
        REPEATED.items(), ("kind", "file", "options"), strict=True
    ):
        answer = post(desk, media, body)
        assert (answer.status, answer.code) == (422, "validation_failed"), (name, answer.text)
        assert field in [error["field"] for error in answer.json()["errors"]]
    assert imports(desk) == []


def test_json_is_no_form(desk: ImportDesk) -> None:
    answer = desk.erp.post("/imports", {"kind": "products"})
    assert (answer.status, answer.code) == (400, "bad_request")
    assert "multipart/form-data" in answer.json()["message"]


def test_a_form_is_no_json(desk: ImportDesk) -> None:
    answer = desk.erp.post("/imports/uploads", GOOD)
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
def test_all_fields_are_told_at_once(form: Form, fields: list[str], desk: ImportDesk) -> None:
    answer = desk.erp.post("/imports", form)
    assert (answer.status, answer.code) == (422, "validation_failed"), answer.text
    assert [error["field"] for error in answer.json()["errors"]] == fields
    assert imports(desk) == []


def test_flags_are_texts_in_a_form(desk: ImportDesk) -> None:
    for flag in ("true", "TRUE", "1", "false", "0", "", " true "):
        fields = {"kind": "products", "options[auto_allocate]": flag, "unknown": "x"}
        assert desk.erp.post("/imports", Form(fields, GOOD.file)).status == 202, flag


def test_other_files_are_refused(desk: ImportDesk) -> None:
    for name in ("goods.exe", "goods.csv.exe", "goods", "goods.xlsm", ".", "csv", "a.csv/b"):
        body = {"kind": "products", "filename": name}
        for answer in (
            desk.upload("products", name, GOODS),
            desk.erp.post("/imports/uploads", body),
        ):
            assert (answer.status, answer.code) == (422, "import_refused"), answer.text
    assert desk.upload("products", "", GOODS).status == 422
    assert imports(desk) == []


def test_names_are_kept_without_folders(desk: ImportDesk) -> None:
    for sent, kept in {
        "../../etc/goods.csv": "goods.csv",
        "C:\\files\\goods.csv": "goods.csv",
        "año.csv": "año.csv",
        " goods.csv ": "goods.csv",
        f"{'x' * 180}.csv": f"{'x' * 100}.csv",
        "a;b=c.CSV": "a;b=c.CSV",
        "a|b.csv": "a_b.csv",
    }.items():
        answer = desk.upload("products", sent, GOODS)
        assert (answer.status, answer.data["file"]) == (202, kept)
        body = {"kind": "products", "filename": sent}
        announced = desk.erp.post("/imports/uploads", body)
        assert (announced.status, announced.data["file"]) == (201, kept)
        number = announced.data["id"]
        assert announced.data["upload"]["fields"]["key"] == f"acme/uploads/{number}/{kept}"


def test_what_is_too_large_is_told_the_other_ways(desk: ImportDesk) -> None:
    filler = b"item_code,name\n" + b"A,Good\n" * 900_000
    for size in (MAX_REQUEST_FILE_BYTES + 1, 4_900_000):
        answer = desk.upload("products", "goods.csv", filler[:size])
        # The gateway itself answers: the function never sees as many bytes.
        assert (answer.status, answer.code) == (413, "payload_too_large"), size
        assert_other_ways_are_told(answer.json()["message"])
    assert imports(desk) == []


def test_a_file_of_five_megabytes_and_a_byte_is_refused() -> None:
    content = b"item_code,name\n" + b"A,Good\n" * 900_000
    ensure_acceptable(content[:MAX_REQUEST_FILE_BYTES], "goods.csv")
    with pytest.raises(ImportRefused) as refused:
        ensure_acceptable(content[: MAX_REQUEST_FILE_BYTES + 1], "goods.csv")
    assert (refused.value.status, refused.value.code) == (413, "import_refused")
    assert_other_ways_are_told(refused.value.message)


def assert_other_ways_are_told(message: str) -> None:
    assert "POST /imports/uploads" in message
    assert "import bucket" in message

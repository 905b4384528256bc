"""Routes of labels and of packing slips."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from pydantic import Field

from shared.http.api_handler import ApiHandler
from shared.http.request import Request
from shared.http.routes import FileResponse, OperationOptions, Routes
from shared.kernel.db.store import Store
from shared.kernel.errors import Problem, ValidationFailed
from shared.kernel.fields import Parameters
from shared.kernel.list_parameters import Ids, Integer
from shared.warehouse.catalog.labels import product_label, product_labels
from shared.warehouse.labels.code_label import SIZES, CodeLabel, LabelSize
from shared.warehouse.labels.label_pdf import code_labels_pdf, label_pdf
from shared.warehouse.labels.label_zpl import code_labels_zpl, label_zpl
from shared.warehouse.labels.models import CodeLabelContent
from shared.warehouse.labels.slip_pdf import slip_pdf
from shared.warehouse.packing.labels import label_content, slip_content
from shared.warehouse.warehouses.labels import position_label, position_labels

routes = Routes()


_LONG_SLIP = 25_000
"""Characters of a slip from which on it takes about half a second."""

_PDF, _ZPL = "application/pdf", "application/zpl"
_READ: OperationOptions = {"scope": "pickings:read", "response": _PDF, "errors": ("conflict",)}


class LabelParameters(Parameters):
    """Query parameters of a label."""

    format: Literal["pdf", "zpl"] = Field(
        default="pdf", description="`zpl` is for label printers of 203 dpi, in UTF-8."
    )


@routes.read(
    "/handling-units/{id}/label",
    "Get the label of a handling unit",
    _READ,
    other_media=(_ZPL,),
    parameters=LabelParameters,
    errors=("conflict", "gone"),
    description="Logistic label of GS1, 100 x 150 mm: the SSCC as GS1-128, where the unit goes, and"
    " a summary of the goods in it and in the units in it. `conflict` while the unit is empty, and"
    " when it has no SSCC.",
)
def get_label(store: Store, request: Request[None, LabelParameters]) -> FileResponse:
    """Return the label of a handling unit as PDF or as ZPL."""
    content = label_content(store, request.id)
    if request.parameters.format == "zpl":
        return FileResponse(label_zpl(content).encode(), f"{content.code}.zpl", _ZPL)
    return FileResponse(label_pdf(content), f"{content.code}.pdf")


class CodeLabelParameters(LabelParameters):
    """Query parameters of the label of a position or of a product."""

    size: LabelSize = Field(
        default="medium", description="`small` is 60 x 30 mm, `medium` 100 x 50, `large` 100 x 150."
    )


class CodeLabelsParameters(CodeLabelParameters):
    """Query parameters of the labels of several positions or products."""

    ids: Ids = Field(description="Whose labels, at most 100 ids separated by commas.")


_SEVERAL = (
    "The labels in the order of `ids`; a PDF has a page for each. `validation_failed` names all ids"
    " that do not exist."
)
_BARCODE = (
    " A code that has other characters than ASCII, or is too long for bars of 0.25 mm, has no"
    " barcode."
)


@routes.read(
    "/warehouse-positions/{id}/label",
    "Get the label of a position",
    scope="warehouses:read",
    response=_PDF,
    other_media=(_ZPL,),
    parameters=CodeLabelParameters,
    errors=("gone",),
    description=f"Code and description, with the code as Code 128.{_BARCODE}",
)
def get_position_label(store: Store, request: Request[None, CodeLabelParameters]) -> FileResponse:
    """Return the label of a position as PDF or as ZPL."""
    content = position_label(store, request.id)
    return _code_labels([content], f"position-{request.id}", request.parameters)


@routes.read(
    "/warehouse-positions/labels",
    "Get the labels of several positions",
    scope="warehouses:read",
    response=_PDF,
    other_media=(_ZPL,),
    parameters=CodeLabelsParameters,
    description=f"{_SEVERAL} Each is that of `GET /warehouse-positions/{{id}}/label`.",
)
def get_position_labels(store: Store, request: Request[None, CodeLabelsParameters]) -> FileResponse:
    """Return the labels of positions as PDF, with a page for each, or as ZPL."""
    contents = position_labels(store, request.parameters.ids)
    return _several(contents, "position", request.parameters)


@routes.read(
    "/products/{id}/label",
    "Get the label of a product",
    scope="products:read",
    response=_PDF,
    other_media=(_ZPL,),
    parameters=CodeLabelParameters,
    errors=("gone",),
    description="Code and name, with the GTIN of the product as GS1-128: that of one unit in its"
    f" packaging, or else its `barcode`; without a GTIN, the code as Code 128.{_BARCODE}",
)
def get_product_label(store: Store, request: Request[None, CodeLabelParameters]) -> FileResponse:
    """Return the label of a product as PDF or as ZPL."""
    content = product_label(store, request.id)
    return _code_labels([content], f"product-{request.id}", request.parameters)


@routes.read(
    "/products/labels",
    "Get the labels of several products",
    scope="products:read",
    response=_PDF,
    other_media=(_ZPL,),
    parameters=CodeLabelsParameters,
    description=f"{_SEVERAL} Each is that of `GET /products/{{id}}/label`.",
)
def get_product_labels(store: Store, request: Request[None, CodeLabelsParameters]) -> FileResponse:
    """Return the labels of products as PDF, with a page for each, or as ZPL."""
    contents = product_labels(store, request.parameters.ids)
    return _several(contents, "product", request.parameters)


def _several(
    found: Mapping[int, CodeLabelContent], noun: str, parameters: CodeLabelsParameters
) -> FileResponse:
    missing = ", ".join(str(one) for one in parameters.ids if one not in found)
    if missing:
        raise ValidationFailed([Problem("ids", f"has ids of no {noun}: {missing}")])
    return _code_labels([found[one] for one in parameters.ids], f"{noun}s", parameters)


def _code_labels(
    contents: Sequence[CodeLabelContent], name: str, parameters: CodeLabelParameters
) -> FileResponse:
    labels = [CodeLabel(content, SIZES[parameters.size]) for content in contents]
    if parameters.format == "zpl":
        return FileResponse(code_labels_zpl(labels).encode(), f"{name}.zpl", _ZPL)
    return FileResponse(code_labels_pdf(labels), f"{name}.pdf")


class SlipParameters(Parameters):
    """Query parameters of a packing slip."""

    part: Annotated[Integer, Field(ge=1)] | None = Field(
        default=None, description="One part of a long packing slip, from 1 on."
    )


@routes.read(
    "/packing-orders/{id}/packing-slip.pdf",
    "Get the packing slip of a packing order",
    _READ,
    parameters=SlipParameters,
    description="The handling units with their goods, batches and serials, on pages of A4."
    " `conflict` while no goods are packed. A slip that is too long for one response is"
    " `payload_too_large`; the message says how many parts it has. Get them with `part`.",
)
def get_packing_slip(store: Store, request: Request[None, SlipParameters]) -> FileResponse:
    """Return the packing slip of a packing order as PDF."""
    content = slip_content(store, request.id, request.parameters.part)
    if content.size > _LONG_SLIP:
        store.take_slot()
    return FileResponse(slip_pdf(content), f"{content.name}.pdf")


lambda_handler = ApiHandler(routes)

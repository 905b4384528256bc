"""Routes of labels of handling units and of packing slips."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from shared.http.api_handler import ApiHandler
from shared.http.request import Request
from shared.http.routes import FileResponse, OperationOptions, Routes
from shared.kernel.db.store import Store
from shared.kernel.list_parameters import Integer
from shared.warehouse.labels.label_pdf import label_pdf
from shared.warehouse.labels.label_zpl import label_zpl
from shared.warehouse.labels.slip_pdf import slip_pdf
from shared.warehouse.packing.labels import label_content, slip_content

routes = Routes()


_LONG_SLIP = 25_000
"""Characters of a slip from which on it takes about half a second."""

_PDF, _ZPL = "application/pdf", "application/zpl"
_READ: OperationOptions = {"scope": "pickings:read", "response": _PDF, "errors": ("conflict",)}


class LabelParameters(BaseModel):
    """Query parameters of a label."""

    model_config = ConfigDict(extra="ignore")

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


class SlipParameters(BaseModel):
    """Query parameters of a packing slip."""

    model_config = ConfigDict(extra="ignore")

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

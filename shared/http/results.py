"""The results of handlers, and how they become HTTP responses."""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import replace
from http import HTTPStatus
from typing import Any

from pydantic import BaseModel

from shared.http.envelope import HttpResponse
from shared.http.paging import listing_name, paging
from shared.http.request import Request
from shared.http.routes import (
    FileResponse,
    ListResponse,
    Operation,
    ResourceResponse,
    TextResponse,
)
from shared.kernel.db.lists.cursor import Cursor
from shared.kernel.db.records import CreatedRecord
from shared.kernel.fields import Stored
from shared.kernel.json_text import dumps


def list_to_http(
    result: ListResponse[Any], request: Request[Any, Any], path: str, query: Mapping[str, str]
) -> HttpResponse:
    """Write a page of a list as JSON, with links from the tenant's base address."""
    page, tenant = result.page, request.tenant
    rows = [result.view(record).model_dump() for record in page.records]
    if request.parameters.include:
        rows = [row | result.names(record) for row, record in zip(rows, page.records, strict=True)]
    cursor = None
    if page.next_mark is not None:
        listing = listing_name(tenant.slug, path, request.parameters)
        cursor = Cursor(listing, page.page + 1, page.per_page, page.next_mark).text()
    frame = paging(page, url=tenant.base_url + path, query=query, next_cursor=cursor)
    body = dumps({"data": rows, **frame})
    lasting = body.replace(cursor, page.ids_digest) if cursor and page.ids_digest else body
    return HttpResponse(200, body, etag_text=lasting)


def shown_by(operation: Operation, result: ResourceResponse) -> ResourceResponse:
    """Return the part of a result that the responses of an operation show."""
    view, model = result.view, operation.response
    if operation.other_response and isinstance(view, operation.other_response):
        model = operation.other_response
    if isinstance(view, BaseModel) and not isinstance(model, str) and type(view) is not model:
        view = model.model_construct(**{name: getattr(view, name) for name in model.model_fields})
    return replace(result, view=view, warning=result.warning if operation.may_warn else None)


def resource_to_http(result: ResourceResponse, base_url: str) -> HttpResponse:
    """Write a resource as JSON, with links from the tenant's base address."""
    view = result.view
    data = view.model_dump() if isinstance(view, BaseModel) else [v.model_dump() for v in view]
    warning = {"warning": result.warning} if result.warning else {}
    beside = result.beside.model_dump() if result.beside else {}
    is_elsewhere = result.location is not None and result.status != HTTPStatus.OK
    headers = {"Location": f"{base_url}{result.location}"} if is_elsewhere else {}
    return HttpResponse(result.status, dumps({"data": data, **beside, **warning}), headers)


def file_to_http(result: FileResponse | TextResponse, media: str) -> HttpResponse:
    """Write a result that is not JSON."""
    if isinstance(result, TextResponse):
        return HttpResponse(200, result.text, {"Content-Type": media, **result.headers})
    headers = {
        "Content-Type": result.media or media,
        "Content-Disposition": f'attachment; filename="{result.name}"',
    }
    return HttpResponse(200, b64encode(result.content).decode(), headers, is_base64=True)


_MOST_NAMED = 20
"""Fields that a warning names."""


class ResourceId(Stored):
    """The id of an existing resource that the client may not read."""

    id: int


def created_resource[M: BaseModel](
    created: CreatedRecord[M], what: str, view: BaseModel, path: str
) -> ResourceResponse:
    """Return the response with a new resource, or with the unchanged one that has its reference.

    A client that may not read the latter learns neither its values nor which fields of the request
    differ from them: it could find a value out by trying. `what` is the resource and its reference,
    for the warning; `path` is the path of its collection.
    """
    location = f"{path}/{created.record.id}"
    if created.new:
        return ResourceResponse(view, 201, location)
    differing = created.differing
    unreadable = ResourceResponse(
        ResourceId(id=created.record.id),
        location=location,
        warning=f"{_unchanged(what)} The request differs from it." if differing else None,
    )
    return ResourceResponse(
        view,
        location=location,
        warning=_warning(what, differing) if differing else None,
        if_unreadable=unreadable,
    )


def _warning(what: str, differing: Sequence[str]) -> str:
    more = len(differing) - _MOST_NAMED
    names = ", ".join(differing[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
    return f"{_unchanged(what)} The request differs in: {names}."


def _unchanged(what: str) -> str:
    return f"{what} exists already and was not changed."

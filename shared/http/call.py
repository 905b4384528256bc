"""A call of the gateway: who calls what with which values, and the validated request in it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from shared.http.envelope import method_of
from shared.http.form import read_form
from shared.http.paging import with_cursor
from shared.http.request import Request, read_json_object, repeated_parameters
from shared.http.routes import Operation, RouteMatch
from shared.identity.tenancy.tenant import Tenant
from shared.kernel.caller import Caller
from shared.kernel.clock import Deadline
from shared.kernel.list_parameters import ListParameters
from shared.kernel.validation import check, ensure_valid


@dataclass(frozen=True, slots=True)
class ApiCall:
    """An authenticated call of the gateway, and the operations on its path by method."""

    event: Mapping[str, Any]
    path: str
    headers: Mapping[str, str]
    caller: Caller
    tenant: Tenant
    deadline: Deadline
    matches: Mapping[str, RouteMatch]

    @property
    def method(self) -> str:
        """The HTTP method, GET for HEAD."""
        return method_of(self.event)

    @property
    def address(self) -> str:
        """The IP address of the caller."""
        address: str = self.event["requestContext"].get("identity", {}).get("sourceIp", "")
        return address

    @property
    def is_logged(self) -> bool:
        """Whether it is of an API client whose company has a request log.

        The setting is read from its attribute: other requests do not import the settings.
        """
        is_on = self.tenant.item.get("request_log") == {"BOOL": True}
        return is_on and self.caller.client_id is not None

    @property
    def query(self) -> Mapping[str, str]:
        """The query parameters; of a repeated one, the last value."""
        return self.event.get("queryStringParameters") or {}


def raw_body(operation: Operation, event: Mapping[str, Any]) -> dict[str, Any]:
    """Return the body as it was sent. Also a body that the route ignores must be valid."""
    if (operation.body is None or operation.body_optional) and not event.get("body"):
        return {}
    return read_form(event) if operation.is_form else read_json_object(event)


def request_of(call: ApiCall, match: RouteMatch, raw: object) -> Request[Any, Any]:
    """Validate query and body: every problem of the query is raised, an invalid body is kept."""
    operation = match.operation
    body = None if operation.body is None else check(operation.body, raw)
    parameters = None
    if operation.parameters is not None:
        parameters = ensure_valid(
            check(operation.parameters, call.query),
            repeated_parameters(call.event, operation.parameter_names),
        )
    if isinstance(parameters, ListParameters):
        parameters = with_cursor(parameters, call.tenant.slug, call.path)
    return Request(
        caller=call.caller,
        tenant=call.tenant,
        address=call.address,
        path=call.path,
        path_values=path_values(match, call.caller),
        body=body,
        parameters=parameters,
    )


def path_values(match: RouteMatch, caller: Caller) -> Mapping[str, str]:
    """Return the values of the path's parameters; `me` becomes the id of the calling user."""
    values = match.path_values
    if match.operation.allows_self and values.get("id") == "me" and caller.kind == "user":
        return {**values, "id": caller.subject}
    return values

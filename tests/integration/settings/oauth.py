"""An ERP or an operator at the token route, as the settings tests need them."""

from urllib.parse import urlencode

from shared.tenancy.directory import directory
from tests.gateway import Erp, Response
from tests.stack import Stack

_FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def ask(stack: Stack, client_id: str, secret: str, scope: str = "") -> Response:
    """Ask for a token of an integration client."""
    form = {
        "grant_type": "client_credentials",
        "client_id": client_id,
        "client_secret": secret,
        "scope": scope,
    }
    stranger = Erp(stack.gateway, None)
    return stranger.post("/oauth/token", raw=urlencode(form), headers=_FORM)


def works(stack: Stack, client_id: str, secret: str) -> bool:
    """Tell whether a secret gets a token."""
    answer = ask(stack, client_id, secret)
    assert answer.status in {200, 401}, answer.text
    return answer.status == 200


def signed_in(stack: Stack, client_id: str, secret: str) -> Erp:
    """Return the ERP with a token that it was granted."""
    answer = ask(stack, client_id, secret)
    assert answer.status == 200, answer.text
    return Erp(stack.gateway, answer.json()["access_token"])


def ten_seconds_later() -> None:
    """Have every door read tenants anew."""
    directory.forget()

"""Checks of every request to a server that listens on this machine.

A loopback address is reachable for every program of every account on the machine, and for every web
page that a browser on it shows. These checks refuse pages of other origins, and pages whose host
name resolves to the loopback address (DNS rebinding).
"""

from collections.abc import Iterable, Sequence
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler

LOOPBACK_NAMES = ("127.0.0.1", "localhost")


def host_refusal(hosts: Sequence[str], port: int) -> str | None:
    """Return why a request is refused for its `Host`; None if it names this server.

    Args:
        hosts: The values of `Host`.
        port: Port of this server.
    """
    own = [f"{name}:{port}" for name in LOOPBACK_NAMES]
    if [host.lower() for host in hosts] in [[name] for name in own]:
        return None
    return f"Host: must be {' or '.join(own)}"


def origin_refusal(
    hosts: Sequence[str], origins: Iterable[str], sites: Iterable[str]
) -> str | None:
    """Return why a request is refused as one of another web page; None if it is not.

    Args:
        hosts: The values of `Host`, which `host_refusal` has accepted.
        origins: The values of `Origin`.
        sites: The values of `Sec-Fetch-Site`.
    """
    if any(origin.lower() != f"http://{hosts[0].lower()}" for origin in origins):
        return "Origin: only pages of this address may send requests"
    if any(site.lower() not in {"same-origin", "none"} for site in sites):
        return "Sec-Fetch-Site: only pages of this address may send requests; open it directly"
    return None


class LocalRequestHandler(BaseHTTPRequestHandler):
    """Handles the requests of a server on this machine; those of other web pages get 403."""

    def parse_request(self) -> bool:
        """Parse the request; return False if it is invalid or refused, and was answered."""
        if not super().parse_request():
            return False
        hosts, origins, sites = (
            self.headers.get_all(name, []) for name in ("Host", "Origin", "Sec-Fetch-Site")
        )
        port = self.connection.getsockname()[1]
        refusal = host_refusal(hosts, port) or origin_refusal(hosts, origins, sites)
        if refusal:
            self.close_connection = True
            self.send_error(HTTPStatus.FORBIDDEN, explain=refusal)
        return refusal is None

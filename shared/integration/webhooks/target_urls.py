"""Validation of webhook URLs: their syntax, and the IP addresses that their host resolves to.

DNS answers may change at any time. Call `resolve_addresses` right before each connection and
connect to an address that it returned, never to the host name.
"""

import re
import socket
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from threading import Thread

from shared.integration.webhooks.ip_addresses import non_public_kind

MAX_URL_LENGTH = 2000
_MAX_HOST_LENGTH = 253
_PORTS = {"": 443, ":443": 443, ":8443": 8443}

_URL = re.compile(r"(?P<scheme>[^:/?#]*)://(?P<authority>[^/?#]*)(?P<rest>.*)", re.DOTALL)
_NOT_PRINTABLE_ASCII = re.compile(r"[^!-~]")
_LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_HOST_NAME = re.compile(rf"(?:{_LABEL}\.)+(?=[a-z]){_LABEL}")
_IP_LITERAL = re.compile(r"\[.*|(?:.*\.)?(?:[0-9]+|0x[0-9a-f]*)\.?")
_LOCALHOST = re.compile(r"http://localhost:(?P<port>[1-9][0-9]{0,4})(?P<rest>(?:[/?][^#]*)?)")
_MAX_PORT = 65535


class InvalidTarget(Exception):
    """The URL is not allowed. The message says why and is shown to the API client."""


@dataclass(frozen=True, slots=True)
class TargetUrl:
    """A parsed URL: `host` in lower case; `path` includes the query and is never empty."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def is_local(self) -> bool:
        """Whether the target is `http://localhost:PORT`, which only the local run allows."""
        return self.scheme == "http"


def parse_target(url: str, *, localhost: bool = False) -> TargetUrl:
    """Parse and validate a URL without network access.

    Args:
        url: As the API client sent it.
        localhost: Also allow `http://localhost:PORT`, with any port.

    Raises:
        InvalidTarget: The URL is not allowed.
    """
    if len(url) > MAX_URL_LENGTH:
        raise InvalidTarget(f"must have at most {MAX_URL_LENGTH} characters, has {len(url)}")
    match = _URL.fullmatch(url)
    if match and not match["authority"].isascii():
        raise InvalidTarget("must have an ASCII host: write international names in punycode (xn--)")
    # URL parsers treat such characters differently (urlsplit drops tabs and newlines).
    if _NOT_PRINTABLE_ASCII.search(url) or "\\" in url:
        raise InvalidTarget(
            "must not contain spaces, backslashes, control characters or non-ASCII characters: "
            "percent-encode them"
        )
    if localhost and (local := _LOCALHOST.fullmatch(url)) and int(local["port"]) <= _MAX_PORT:
        return TargetUrl("http", "localhost", int(local["port"]), _path(local["rest"]))
    if not match or match["scheme"].lower() != "https":
        raise InvalidTarget("must start with https://")
    if "#" in match["rest"]:
        raise InvalidTarget("must not have a fragment (#)")
    host, port = _host_and_port(match["authority"].lower())
    return TargetUrl("https", host, port, _path(match["rest"]))


def resolve_addresses(target: TargetUrl, *, seconds: float) -> list[str]:
    """Resolve the host of a target and check every address.

    Args:
        target: A parsed URL.
        seconds: Time limit for the DNS query.

    Returns:
        The distinct addresses in the order to try them. All of them are public IPv4 addresses,
        because functions outside a VPC reach nothing over IPv6; those of a local target are
        loopback addresses.

    Raises:
        InvalidTarget: The host does not resolve in time, one of its addresses of any kind is not
            allowed, or none is an IPv4 address.
    """
    addresses = _resolve(target, seconds)
    if not addresses:
        raise InvalidTarget(f"host {target.host} does not resolve")
    admitted = "loopback" if target.is_local else None
    for address in addresses:
        if (kind := non_public_kind(address)) != admitted:
            raise InvalidTarget(f"host {target.host} resolves to a {kind or 'public'} address")
    reachable = [one for one in addresses if target.is_local or ":" not in one]
    if not reachable:
        raise InvalidTarget(f"host {target.host} has no IPv4 address")
    return reachable


def _path(rest: str) -> str:
    return rest if rest.startswith("/") else f"/{rest}"


def _host_and_port(authority: str) -> tuple[str, int]:
    if "@" in authority:
        raise InvalidTarget("must not contain a user name or password (@)")
    host, colon, digits = authority.partition(":")
    if authority.startswith("[") or _IP_LITERAL.fullmatch(host):
        raise InvalidTarget("must contain a host name, not an IP address")
    if len(host) > _MAX_HOST_LENGTH or not _HOST_NAME.fullmatch(host):
        raise InvalidTarget("must contain a public host name such as hooks.example.com")
    if (port := _PORTS.get(colon + digits)) is None:
        raise InvalidTarget("must use port 443 or 8443")
    return host, port


def _resolve(target: TargetUrl, seconds: float) -> list[str]:
    """Return the distinct addresses of the host; empty if it does not resolve."""
    results = SimpleQueue[list[str]]()

    def query() -> None:
        try:
            found = socket.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError):
            found = []
        results.put(list(dict.fromkeys(str(sockaddr[0]) for *_, sockaddr in found)))

    # getaddrinfo has no timeout. The thread ends when the system's resolver gives up.
    Thread(target=query, name="resolve", daemon=True).start()
    try:
        return results.get(timeout=max(seconds, 0))
    except Empty:
        raise InvalidTarget(f"host {target.host} does not resolve in time") from None

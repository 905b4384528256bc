"""Where a webhook may be sent: what its address looks like, and where its name leads.

A name may lead elsewhere at any time, so whoever connects asks `resolve_addresses` right before and
connects to what it answered, not to the name.
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
    """A webhook cannot go there; the message says why, for whoever chose the address."""


@dataclass(frozen=True, slots=True)
class Target:
    """An address to send to: `host` in lower case, `path` with its query and never empty."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def is_local(self) -> bool:
        """Whether it is this machine, as the local run allows."""
        return self.scheme == "http"


def parse_target(url: str, *, localhost: bool = False) -> Target:
    """Read an address without asking the network; BadTarget says what is wrong with it.

    `localhost` admits `http://localhost:PORT` besides, with any port.
    """
    # Readers of addresses differ in what they make of odd characters (urlsplit drops tabs and
    # newlines), so none gets to see any.
    if len(url) > MAX_URL_LENGTH:
        raise InvalidTarget(f"must have at most {MAX_URL_LENGTH} characters")
    match = _URL.fullmatch(url)
    if match and not match["authority"].isascii():
        raise InvalidTarget(
            "must name its host in ASCII: write international names in punycode (xn--)"
        )
    if _NOT_PRINTABLE_ASCII.search(url) or "\\" in url:
        raise InvalidTarget(
            "must not contain spaces, backslashes, control or non-ASCII characters: "
            "percent-encode them"
        )
    if localhost and (local := _LOCALHOST.fullmatch(url)) and int(local["port"]) <= _MAX_PORT:
        return Target("http", "localhost", int(local["port"]), _path(local["rest"]))
    if not match or match["scheme"].lower() != "https":
        raise InvalidTarget("must begin with https://")
    if "#" in match["rest"]:
        raise InvalidTarget("must not have a fragment (#)")
    host, port = _host_and_port(match["authority"].lower())
    return Target("https", host, port, _path(match["rest"]))


def resolve_addresses(target: Target, *, seconds: float) -> list[str]:
    """Ask where a target's name leads: its distinct addresses, in the order to try them.

    Every one of them is public (loopback for a local target); BadTarget when a single one is
    not, or when the name does not resolve within `seconds`.
    """
    addresses = _resolve(target, seconds)
    if not addresses:
        raise InvalidTarget("the name does not resolve")
    admitted = "loopback" if target.is_local else None
    for address in addresses:
        if (kind := non_public_kind(address)) != admitted:
            raise InvalidTarget(f"resolves to a {kind or 'public'} address")
    return addresses


def _path(rest: str) -> str:
    return rest if rest.startswith("/") else f"/{rest}"


def _host_and_port(authority: str) -> tuple[str, int]:
    if "@" in authority:
        raise InvalidTarget("must not contain a user name or password (@)")
    host, colon, digits = authority.partition(":")
    if authority.startswith("[") or _IP_LITERAL.fullmatch(host):
        raise InvalidTarget("must name a host, not an IP address")
    if len(host) > _MAX_HOST_LENGTH or not _HOST_NAME.fullmatch(host):
        raise InvalidTarget("must name a host of the public internet, such as hooks.example.com")
    if (port := _PORTS.get(colon + digits)) is None:
        raise InvalidTarget("must use port 443 or 8443")
    return host, port


def _resolve(target: Target, seconds: float) -> list[str]:
    """Distinct addresses of the name; none when it has none."""
    answers = SimpleQueue[list[str]]()

    def ask() -> None:
        try:
            found = socket.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError):
            found = []
        answers.put(list(dict.fromkeys(str(sockaddr[0]) for *_, sockaddr in found)))

    # getaddrinfo knows no time-out; a thread that it holds ends with the resolver's own patience.
    Thread(target=ask, name="resolve", daemon=True).start()
    try:
        return answers.get(timeout=max(seconds, 0))
    except Empty:
        raise InvalidTarget("the name does not resolve in time") from None

"""Validation of webhook URLs: their syntax, and the IP addresses that their host resolves to.

DNS answers may change at any time. Call `resolve_addresses` right before each connection and
connect to an address that it returned, never to the host name.
"""

import re
import socket
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from queue import Empty, SimpleQueue
from threading import Thread

_NON_PUBLIC = {
    "cloud metadata": "169.254.169.254/32 168.63.129.16/32 fd00:ec2::254/128",
    "loopback": "127.0.0.0/8 ::1/128",
    "private": "10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 fc00::/7 fec0::/10",
    "link-local": "169.254.0.0/16 fe80::/10",
    "shared (CGNAT)": "100.64.0.0/10",
    "multicast": "224.0.0.0/4 ff00::/8",
    # NAT64, Teredo, 6to4: each embeds an IPv4 address that would go unchecked.
    "tunnel": "64:ff9b::/96 64:ff9b:1::/48 2001::/32 2002::/16",
    "reserved": """
        0.0.0.0/8 192.0.0.0/24 192.0.2.0/24 192.31.196.0/24 192.52.193.0/24 192.88.99.0/24
        192.175.48.0/24 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 240.0.0.0/4
        2001::/23 2001:db8::/32 3fff::/20 2620:4f:8000::/48
    """,
}
"""Kind → ranges. A range that lies inside another one comes first.

The ranges follow the IANA registries of special-purpose addresses, including those that
translate, tunnel or relay to another address. `ipaddress.is_global` is not enough: it accepts
NAT64, relays and the addresses that a cloud provider uses for its own services.
"""

_RANGES = [
    (ip_network(text), kind) for kind, texts in _NON_PUBLIC.items() for text in texts.split()
]
_RANGES_V4 = [(network, kind) for network, kind in _RANGES if isinstance(network, IPv4Network)]
_RANGES_V6 = [(network, kind) for network, kind in _RANGES if isinstance(network, IPv6Network)]

_GLOBAL_UNICAST_V6 = IPv6Network("2000::/3")
"""All IPv6 addresses that are allocated for the public internet."""

_ISATAP_PREFIXES = {0x0000_5EFE, 0x0200_5EFE}
"""First half of an interface identifier whose second half is an IPv4 address."""


def non_public_kind(address: str) -> str | None:
    """Return the kind of a non-public address; None if the address is public.

    Args:
        address: An IPv4 or IPv6 address in the format of getaddrinfo.

    Returns:
        An adjective for messages ("private", "loopback"): see `_NON_PUBLIC`. "unknown" if
        `address` is not an IP address.
    """
    try:
        ip = ip_address(address)
    except ValueError:
        return "unknown"
    if isinstance(ip, IPv6Address):
        if ip.ipv4_mapped is None:
            return _non_public_kind_v6(ip)
        ip = ip.ipv4_mapped
    return _non_public_kind_v4(ip)


def _non_public_kind_v4(ip: IPv4Address) -> str | None:
    return next((kind for network, kind in _RANGES_V4 if ip in network), None)


def _non_public_kind_v6(ip: IPv6Address) -> str | None:
    if ip.scope_id is not None:
        # A scope id names a link of this machine.
        return "link-local"
    for network, kind in _RANGES_V6:
        if ip in network:
            return kind
    if ip not in _GLOBAL_UNICAST_V6:
        return "reserved"
    return "tunnel" if (int(ip) >> 32) & 0xFFFF_FFFF in _ISATAP_PREFIXES else None


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

    `seconds` limit the DNS query.

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

"""Classification of IP addresses: public, or the kind of the non-public range.

The ranges follow the IANA registries of special-purpose addresses, including those that
translate, tunnel or relay to another address. `ipaddress.is_global` is not enough: it accepts
NAT64, relays and the addresses that a cloud provider uses for its own services.
"""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

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
"""Kind → ranges. A range that lies inside another one comes first."""

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

"""Classification of IP addresses at the limits of every range."""

from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_network

from hypothesis import given
from hypothesis import strategies as st

from shared.integration.webhooks.target_urls import non_public_kind
from tests.cases import each_case

RANGES = [
    ("0.0.0.0/8", "reserved"),
    ("10.0.0.0/8", "private"),
    ("100.64.0.0/10", "shared (CGNAT)"),
    ("127.0.0.0/8", "loopback"),
    ("169.254.0.0/16", "link-local"),
    ("172.16.0.0/12", "private"),
    ("192.0.0.0/24", "reserved"),
    ("192.0.2.0/24", "reserved"),
    ("192.31.196.0/24", "reserved"),
    ("192.52.193.0/24", "reserved"),
    ("192.88.99.0/24", "reserved"),
    ("192.168.0.0/16", "private"),
    ("192.175.48.0/24", "reserved"),
    ("198.18.0.0/15", "reserved"),
    ("198.51.100.0/24", "reserved"),
    ("203.0.113.0/24", "reserved"),
    ("224.0.0.0/4", "multicast"),
    ("240.0.0.0/4", "reserved"),
    ("168.63.129.16/32", "cloud metadata"),
    ("::/128", "reserved"),
    ("::1/128", "loopback"),
    ("::2/128", "reserved"),
    ("64:ff9b::/96", "tunnel"),
    ("64:ff9b:1::/48", "tunnel"),
    ("100::/64", "reserved"),
    ("4000::/2", "reserved"),
    ("8000::/2", "reserved"),
    ("5f00::/16", "reserved"),
    ("2001::/32", "tunnel"),
    ("2001:1::/32", "reserved"),
    ("2001:10::/28", "reserved"),
    ("2001:1ff::/32", "reserved"),
    ("2001:db8::/32", "reserved"),
    ("2002::/16", "tunnel"),
    ("3fff::/20", "reserved"),
    ("2620:4f:8000::/48", "reserved"),
    ("fc00::/7", "private"),
    ("fe80::/10", "link-local"),
    ("fec0::/10", "private"),
    ("ff00::/8", "multicast"),
]

PUBLIC_NEIGHBOURS = [
    "1.0.0.0", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255",
    "128.0.0.0", "168.63.129.15", "168.63.129.17", "169.253.255.255", "169.255.0.0",
    "172.15.255.255", "172.32.0.0", "191.255.255.255", "192.0.1.0", "192.0.1.255", "192.0.3.0",
    "192.31.195.255", "192.31.197.0", "192.52.192.255", "192.52.194.0", "192.88.98.255",
    "192.88.100.0", "192.167.255.255", "192.169.0.0", "192.175.47.255", "192.175.49.0",
    "198.17.255.255", "198.20.0.0", "198.51.99.255", "198.51.101.0", "203.0.112.255",
    "203.0.114.0", "223.255.255.255", "2000::", "2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
    "2001:200::", "2001:db7:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db9::",
    "2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2003::", "2620:4f:7fff:ffff::", "2620:4f:8001::",
    "3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "3fff:1000::",
    "3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
]  # fmt: skip


@each_case(("text", "kind"), RANGES)
def test_a_range_is_non_public_from_its_first_to_its_last_address(text: str, kind: str) -> None:
    network = ip_network(text)

    middle = network[network.num_addresses // 2]
    assert {non_public_kind(str(ip)) for ip in (network[0], middle, network[-1])} == {kind}


@each_case("address", PUBLIC_NEIGHBOURS)
def test_addresses_next_to_a_non_public_range_are_public(address: str) -> None:
    assert non_public_kind(address) is None


@each_case(
    ("address", "kind"),
    [
        ("169.254.169.254", "cloud metadata"),
        ("fd00:ec2::254", "cloud metadata"),
        ("169.254.170.2", "link-local"),
        ("255.255.255.255", "reserved"),
        # IPv4-mapped IPv6 addresses have the kind of the IPv4 address.
        ("::ffff:127.0.0.1", "loopback"),
        ("::ffff:a9fe:a9fe", "cloud metadata"),
        ("::ffff:10.1.2.3", "private"),
        ("::ffff:93.184.216.34", None),
        # Other IPv6 addresses that embed an IPv4 address are not public.
        ("::127.0.0.1", "reserved"),
        ("::93.184.216.34", "reserved"),
        ("::ffff:0:93.184.216.34", "reserved"),
        ("64:ff9b::169.254.169.254", "tunnel"),
        ("64:ff9b::93.184.216.34", "tunnel"),
        ("2002:a9fe:a9fe::1", "tunnel"),
        ("2001:0:4136:e378:8000:63bf:3fff:fdd2", "tunnel"),
        ("2606:4700::5efe:10.0.0.1", "tunnel"),
        ("2606:4700::200:5efe:10.0.0.1", "tunnel"),
        ("2606:4700::5eff:10.0.0.1", None),
        ("2606:4700::100:5efe:10.0.0.1", None),
        ("2606:4700:4700::1111", None),
        ("fe80::1%eth0", "link-local"),
        ("2606:4700:4700::1111%2", "link-local"),
        ("93.184.216.34", None),
        ("8.8.8.8", None),
    ],
)
def test_kind_of_an_address(address: str, kind: str | None) -> None:
    assert non_public_kind(address) == kind


@each_case(
    "text",
    [
        "", "localhost", "example.com", "2130706433", "0x7f000001", "0x7f.1", "127.1", "0177.0.0.1",
        "8.8.8.08", "8.8.8.8 ", "8.8.8.8\n", "8.8.8.8/32", "[2606:4700::1]", "8.8.8.8%1",
        "1.2.3.256", "\uff18.8.8.8", "\u0668.8.8.8", "2606:4700::1::2", "2606:4700:4700::1111%",
    ],
)  # fmt: skip
def test_text_that_is_not_an_address_is_unknown(text: str) -> None:
    assert non_public_kind(text) == "unknown"


@given(st.ip_addresses(v=4))
def test_an_ipv4_mapped_address_has_the_kind_of_the_ipv4_address(ip: IPv4Address) -> None:
    assert non_public_kind(f"::ffff:{ip}") == non_public_kind(str(ip))


@given(st.ip_addresses(v=6))
def test_ipv6_addresses_outside_global_unicast_are_not_public(ip: IPv6Address) -> None:
    embedded = ip.ipv4_mapped
    if embedded is None and ip not in IPv6Network("2000::/3"):
        assert non_public_kind(str(ip)) is not None


@given(st.text())
def test_no_text_raises_an_error(text: str) -> None:
    assert non_public_kind(text) is None or non_public_kind(text)

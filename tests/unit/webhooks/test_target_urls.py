"""Validation of webhook URLs and of the addresses that their hosts resolve to."""

import re
import socket
import threading
import time
from typing import Any
from unittest import mock
from urllib.parse import urlsplit

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from urllib3.util import parse_url

from shared.integration.webhooks.target_urls import (
    InvalidTarget,
    TargetUrl,
    parse_target,
    resolve_addresses,
)
from tests.cases import each_case
from tests.unit.webhooks.fake_resolver import FakeResolver

HOOKS = TargetUrl("https", "hooks.example.com", 443, "/")
LOCAL = TargetUrl("http", "localhost", 8000, "/")
A_LABEL = "a" * 63


@each_case(
    ("url", "target"),
    [
        ("https://hooks.example.com", HOOKS),
        ("https://hooks.example.com/", HOOKS),
        ("HTTPS://Hooks.EXAMPLE.com:443", HOOKS),
        ("https://hooks.example.com:8443/a?b=c", TargetUrl("https", HOOKS.host, 8443, "/a?b=c")),
        ("https://hooks.example.com?b=c", TargetUrl("https", HOOKS.host, 443, "/?b=c")),
        ("https://hooks.example.com//x@y:1", TargetUrl("https", HOOKS.host, 443, "//x@y:1")),
        ("https://xn--bcher-kva.example", TargetUrl("https", "xn--bcher-kva.example", 443, "/")),
        ("https://1.2.3.4.nip.io", TargetUrl("https", "1.2.3.4.nip.io", 443, "/")),
        ("https://0x7f.1.com/%0d%0a", TargetUrl("https", "0x7f.1.com", 443, "/%0d%0a")),
        (f"https://{A_LABEL}.com", TargetUrl("https", f"{A_LABEL}.com", 443, "/")),
        ("https://a.b/" + "x" * 1988, TargetUrl("https", "a.b", 443, "/" + "x" * 1988)),
    ],
)
def test_a_valid_url_is_parsed(url: str, target: TargetUrl) -> None:
    assert parse_target(url) == target


IP_LITERALS = [
    "127.0.0.1", "93.184.216.34", "2130706433", "0x7f000001", "0X7F000001", "0x7f.0.0.1", "0x7f.1",
    "017700000001", "0177.0.0.1", "0177.1", "127.1", "127.0.1", "0", "0x", "127.0.0.1.",
    "1.1.1.0x1", "[::1]", "[::ffff:127.0.0.1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]",
    "[2001::1]", "[fe80::1%25eth0]", "[::1]:8443", "127.0.0.1:8443", "[v1.x]",
    "256.256.256.256", "1.2.3.4.5",
]  # fmt: skip


@each_case("host", IP_LITERALS)
def test_ip_addresses_in_any_notation_are_rejected(host: str) -> None:
    with pytest.raises(InvalidTarget, match="not an IP address"):
        parse_target(f"https://{host}/")


@each_case(
    ("url", "message"),
    [
        ("", "must start with https://"),
        ("hooks.example.com", "must start with https://"),
        ("//hooks.example.com", "must start with https://"),
        ("https:hooks.example.com", "must start with https://"),
        ("https:/hooks.example.com", "must start with https://"),
        ("http://hooks.example.com", "must start with https://"),
        ("http://localhost:8000", "must start with https://"),
        ("ftp://hooks.example.com", "must start with https://"),
        ("file:///etc/passwd", "must start with https://"),
        ("gopher://hooks.example.com", "must start with https://"),
        ("https://user:word@hooks.example.com", "user name"),
        ("https://user@hooks.example.com", "user name"),
        ("https://@hooks.example.com", "user name"),
        ("https://:@hooks.example.com", "user name"),
        ("https://hooks.example.com#part", "fragment"),
        ("https://hooks.example.com/#", "fragment"),
        ("https://hooks.example.com/?a#b", "fragment"),
        ("https://hooks.example.com#@x.example", "fragment"),
        ("https://", "public host name"),
        ("https:///path", "public host name"),
        ("https://?", "public host name"),
        ("https://:443", "public host name"),
        ("https://localhost", "public host name"),
        ("https://hooks.example.com.", "public host name"),
        ("https://.example.com", "public host name"),
        ("https://hooks..example.com", "public host name"),
        ("https://-hooks.example.com", "public host name"),
        ("https://hooks-.example.com", "public host name"),
        ("https://my_hooks.example.com", "public host name"),
        ("https://hooks.example.4com", "public host name"),
        ("https://hooks%2eexample.com", "public host name"),
        ("https://%31%32%37.0.0.1.com", "public host name"),
        ("https://hooks.example.com;x.example", "public host name"),
        (f"https://{A_LABEL}a.com", "public host name"),
        (f"https://{'.'.join([A_LABEL] * 4)}.com", "public host name"),
        ("https://hooks.example.com:80", "port 443 or 8443"),
        ("https://hooks.example.com:", "port 443 or 8443"),
        ("https://hooks.example.com:0443", "port 443 or 8443"),
        ("https://hooks.example.com:443:443", "port 443 or 8443"),
        ("https://hooks.example.com:+443", "port 443 or 8443"),
        ("https://hooks.example.com:65979", "port 443 or 8443"),
        ("https://b\u00fccher.example", "punycode"),
        ("https://\uff11\uff12\uff17.0.0.1", "punycode"),
        ("https://hooks\u3002example.com", "punycode"),
        ("https://hooks.example.com/b\u00fccher", "percent-encode"),
        ("https://hooks.example.com\\@x.example", "percent-encode"),
        ("https://hooks.example.com\\.x.example", "percent-encode"),
        (" https://hooks.example.com", "percent-encode"),
        ("https://hooks.example.com ", "percent-encode"),
        ("https://hooks.exa\tmple.com", "percent-encode"),
        ("https://hooks.example.com/\r\nHost: x", "percent-encode"),
        ("ht\ntps://hooks.example.com", "percent-encode"),
        ("https://hooks.example.com/\0", "percent-encode"),
        ("https://hooks.example.com/\x7f", "percent-encode"),
        ("https://a.b/" + "x" * 1989, "at most 2000 characters"),
    ],
)
def test_an_invalid_url_is_rejected(url: str, message: str) -> None:
    with pytest.raises(InvalidTarget, match=message):
        parse_target(url)


@pytest.mark.parametrize(
    ("url", "port", "path"),
    [
        ("http://localhost:1", 1, "/"),
        ("http://localhost:8000/hooks?x=1", 8000, "/hooks?x=1"),
        ("http://localhost:65535?x", 65535, "/?x"),
    ],
)
def test_localhost_with_a_port_is_allowed_in_the_local_run(url: str, port: int, path: str) -> None:
    assert parse_target(url, localhost=True) == TargetUrl("http", "localhost", port, path)


@each_case(
    "url",
    [
        "http://localhost", "http://localhost/", "http://localhost:", "http://localhost:0",
        "http://localhost:080", "http://localhost:65536", "http://LOCALHOST:8000",
        "HTTP://localhost:8000", "http://localhost.:8000", "http://localhost:8000#x",
        "http://localhost:8000/#x", "http://a@localhost:8000", "http://localhost:8000@a.example",
        "http://127.0.0.1:8000", "http://[::1]:8000", "http://localhost.example.com:8000",
        "http://hooks.example.com", "https://localhost:8443", "https://127.0.0.1",
        "https://hooks.example.com:8000",
    ],
)  # fmt: skip
def test_other_local_urls_are_rejected_in_the_local_run(url: str) -> None:
    with pytest.raises(InvalidTarget):
        parse_target(url, localhost=True)


def test_public_urls_are_allowed_in_the_local_run() -> None:
    assert parse_target("https://hooks.example.com", localhost=True) == HOOKS


URLS = st.from_regex(
    re.compile(
        r"([hH]ttps://)?[a-zA-Z0-9.-]{0,9}[a-z0-9.%@:\[\]\\]?\.com(:443|:8443|:[0-9]*)?([/?#].{0,9})?"
    ),
    fullmatch=True,
)


@given(URLS | st.text() | st.text().map("https://{}.com/".format), st.booleans())
@example("https://a.com:443?/@b.com:8443", False)
@example("https://a.com//b.com", False)
@example("https://a.com/[", False)
def test_all_url_parsers_agree_on_an_accepted_url(url: str, localhost: bool) -> None:  # noqa: FBT001
    try:
        target = parse_target(url, localhost=localhost)
    except InvalidTarget:
        return

    ours = (target.scheme, target.host, target.port)
    standard, other = urlsplit(url), parse_url(url)
    port = {"https": 443, "http": 80}[target.scheme]
    assert (standard.scheme, standard.hostname, standard.port or port) == ours
    assert (other.scheme, other.host, other.port or port) == ours
    assert standard.username is standard.password is other.auth is other.fragment is None
    assert standard.fragment == ""
    assert target.path.startswith("/")
    assert url.endswith(target.path.removeprefix("/"))


def test_a_host_resolves_to_its_distinct_ipv4_addresses_in_order(resolver: FakeResolver) -> None:
    resolver.set_addresses("hooks.example.com", "2606:4700::1", "1.1.1.2", "1.1.1.1", "1.1.1.2")

    addresses = resolve_addresses(HOOKS, seconds=1)

    assert addresses == ["1.1.1.2", "1.1.1.1"]


def test_a_host_without_an_ipv4_address_is_rejected(resolver: FakeResolver) -> None:
    """Functions have no route to it: every delivery would fail."""
    resolver.set_addresses("hooks.example.com", "2606:4700::1")

    with pytest.raises(InvalidTarget, match=r"host hooks\.example\.com has no IPv4 address"):
        resolve_addresses(HOOKS, seconds=1)
    assert resolver.queries == [("hooks.example.com", 443)]


@each_case(
    ("address", "kind"),
    [
        ("127.0.0.1", "loopback"),
        ("::ffff:192.168.0.1", "private"),
        ("fe80::1%2", "link-local"),
    ],
)
@each_case("other_addresses", [[], ["93.184.216.34", "2606:4700::1"]])
def test_one_non_public_address_is_enough_to_reject_a_host(
    resolver: FakeResolver, address: str, kind: str, other_addresses: list[str]
) -> None:
    resolver.set_addresses("hooks.example.com", *other_addresses, address)

    with pytest.raises(InvalidTarget, match=re.escape(f"resolves to a {kind} address")):
        resolve_addresses(HOOKS, seconds=1)


@each_case("answer", [{"side_effect": socket.gaierror}, {"side_effect": UnicodeError},
                      {"return_value": []}])  # fmt: skip
def test_a_host_that_does_not_resolve_is_rejected(answer: dict[str, Any]) -> None:
    with (
        mock.patch.object(socket, "getaddrinfo", **answer) as resolved,
        pytest.raises(InvalidTarget, match=r"^host hooks.example.com does not resolve$"),
    ):
        resolve_addresses(HOOKS, seconds=1)
    assert resolved.call_args.args == ("hooks.example.com", 443)


def test_an_unresponsive_resolver_times_out(resolver: FakeResolver) -> None:
    began = time.monotonic()

    with (
        resolver.paused(),
        pytest.raises(InvalidTarget, match=r"^host hooks.example.com does not resolve in time$"),
    ):
        resolve_addresses(HOOKS, seconds=0.05)

    assert time.monotonic() - began < 60
    resolver.wait_for_pending_queries()
    assert not [thread for thread in threading.enumerate() if thread.name == "resolve"]


def test_localhost_resolves_to_loopback_addresses(resolver: FakeResolver) -> None:
    resolver.set_addresses("localhost", "::1", "127.0.0.1")

    assert resolve_addresses(LOCAL, seconds=1) == ["::1", "127.0.0.1"]


@pytest.mark.parametrize(
    ("address", "kind"), [("93.184.216.34", "public"), ("10.0.0.1", "private")]
)
def test_localhost_that_resolves_elsewhere_is_rejected(
    resolver: FakeResolver, address: str, kind: str
) -> None:
    resolver.set_addresses("localhost", "127.0.0.1", address)

    with pytest.raises(InvalidTarget, match=f"resolves to a {kind} address"):
        resolve_addresses(LOCAL, seconds=1)


@pytest.mark.parametrize("literal", ["2130706433", "0x7f.1", "127.1", "\uff11\uff12\uff17.0.0.1"])
def test_ip_notations_are_also_rejected_by_their_resolved_address(literal: str) -> None:
    """The system's resolver parses all of them as 127.0.0.1."""
    with pytest.raises(InvalidTarget, match="resolves to a loopback address"):
        resolve_addresses(TargetUrl("https", literal, 443, "/"), seconds=5)

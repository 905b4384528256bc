"""Fixtures that replace DNS, the internet and certificate authorities."""

from collections.abc import Iterator

import pytest

from shared.integration.webhooks import http_client
from tests.unit.webhooks.certificates import CertificateAuthority
from tests.unit.webhooks.fake_internet import FakeInternet
from tests.unit.webhooks.fake_resolver import FakeResolver


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> CertificateAuthority:
    """The only trusted certificate authority."""
    return CertificateAuthority("trusted", tmp_path_factory.mktemp("authority"))


@pytest.fixture
def resolver(monkeypatch: pytest.MonkeyPatch) -> FakeResolver:
    """A resolver whose addresses the test sets."""
    return FakeResolver.install(monkeypatch)


@pytest.fixture
def internet(
    monkeypatch: pytest.MonkeyPatch, authority: CertificateAuthority
) -> Iterator[FakeInternet]:
    """Public addresses that are served on loopback."""
    yield FakeInternet.install(monkeypatch, authority)
    http_client._tls_context.cache_clear()

"""Where deliveries of tests go."""

from collections.abc import Iterator

import pytest

from shared.integration.webhooks import http_client
from tests.unit.webhooks.certificates import Authority
from tests.unit.webhooks.fake_internet import Internet
from tests.unit.webhooks.fake_resolver import Names


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """The authority that the system trusts."""
    return Authority("trusted", tmp_path_factory.mktemp("authority"))


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> Names:
    """Names that lead where the test says."""
    return Names.install(monkeypatch)


@pytest.fixture
def internet(monkeypatch: pytest.MonkeyPatch, authority: Authority) -> Iterator[Internet]:
    """A public internet on loopback."""
    yield Internet.install(monkeypatch, authority)
    http_client._trust.cache_clear()

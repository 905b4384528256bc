import pytest

from tests.clock import install_for_tokens


@pytest.fixture(autouse=True)
def _tokens_are_issued_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the wait for a token that a later revocation covers take no real time."""
    install_for_tokens(monkeypatch)

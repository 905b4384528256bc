"""Route declarations that contradict themselves."""

import pytest

from shared.http.routes import Routes


def test_route_with_a_secret_cannot_require_approvals() -> None:
    with pytest.raises(ValueError, match="has a secret"):
        Routes().write(
            "POST", "/users", "Create", request_has_secret=True, errors=("approval_required",)
        )

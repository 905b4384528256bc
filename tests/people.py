"""Users for tests of work, written directly into the table of a tenant."""

import json
from base64 import urlsafe_b64decode

from shared.identity.tenancy.access import operator_store
from shared.identity.users.models import User
from shared.identity.users.repository import USERS
from shared.kernel.db.unit_of_work import run_transaction
from tests.gateway import Erp

PICKER = 7
"""Id of the user who picks in the scenarios."""
PICKER_NAME = "Ana Núñez"


def add_user(number: int = PICKER, name: str = PICKER_NAME, *, tenant: str = "acme") -> None:
    """Add a user without roles who cannot log in."""
    now = "2026-01-01T00:00:00.000Z"
    user = User(
        id=number,
        username=f"user-{number}",
        name=name,
        roles=[],
        is_active=True,
        two_step=False,
        created_at=now,
        updated_at=now,
    )
    run_transaction(operator_store(tenant), lambda tx: USERS.insert(tx, number, user))


def tenant_of(erp: Erp) -> str:
    """Return the tenant that the token of an ERP is for."""
    claims = str(erp.token).split(".")[1]
    slug: str = json.loads(urlsafe_b64decode(claims + "=" * (-len(claims) % 4)))["tenant"]
    return slug

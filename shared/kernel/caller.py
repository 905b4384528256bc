"""Who is calling, as the authorizer found out and the doors are told."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, cast

type CallerKind = Literal["client", "user", "mobile"]

_NO_EXPIRY = sys.maxsize


@dataclass(frozen=True, slots=True)
class Caller:
    """The holder of a verified token."""

    tenant: str
    subject: str
    """Id of the integration client or of the user."""
    kind: CallerKind
    client_id: str | None
    """Client that obtained the token; for users the application, None when none did."""
    scopes: frozenset[str]
    permissions: frozenset[str]
    second_factor: bool
    """False: the user has two-step verification, and the token was got without it."""
    token_id: str
    expires_at: int = _NO_EXPIRY
    """Seconds since the epoch. The gateway keeps a verdict for minutes, so doors look again."""
    session: str | None = None
    """Id of the sign-in that the token comes from; None for integration clients."""
    roles: frozenset[str] = frozenset()
    """Ids of the roles that the permissions come from."""

    @property
    def user_id(self) -> int | None:
        """Id of the user who calls; None when an integration client does."""
        known = self.kind != "client" and self.subject.isdecimal()
        return int(self.subject) if known else None

    @classmethod
    def from_context(cls, flat: Mapping[str, str]) -> "Caller":
        """Read the authorizer's flat context, in which lists are separated by spaces.

        What may be empty may also be absent: either way it gives no rights.

        Raises:
            KeyError: An entry is missing, so this is not the authorizer's context.
        """
        return cls(
            tenant=flat["tenant"],
            subject=flat["subject"],
            kind=cast("CallerKind", flat["kind"]),
            client_id=flat.get("client") or None,
            scopes=frozenset(flat.get("scopes", "").split()),
            permissions=frozenset(flat.get("permissions", "").split()),
            second_factor=flat["second_factor"] == "true",
            token_id=flat["jti"],
            expires_at=int(flat["exp"]),
            session=flat.get("session") or None,
            roles=frozenset(flat.get("roles", "").split()),
        )

    def to_context(self) -> dict[str, str]:
        """Write the flat context that API Gateway hands from the authorizer to the door."""
        return {
            "tenant": self.tenant,
            "subject": self.subject,
            "kind": self.kind,
            "client": self.client_id or "",
            "scopes": " ".join(sorted(self.scopes)),
            "permissions": " ".join(sorted(self.permissions)),
            "second_factor": "true" if self.second_factor else "false",
            "jti": self.token_id,
            "exp": str(self.expires_at),
            "session": self.session or "",
            "roles": " ".join(sorted(self.roles)),
        }

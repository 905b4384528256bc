"""The caller of a request, as the authorizer passes it to the API handlers."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, cast

type CallerKind = Literal["client", "user", "mobile"]

_NO_EXPIRY = sys.maxsize


@dataclass(frozen=True, slots=True)
class Caller:
    """The holder of a verified access token."""

    tenant: str
    subject: str
    """Id of the integration client or of the user."""
    kind: CallerKind
    client_id: str | None
    """Client that the token was issued to: for a user the mobile application, None without one."""
    scopes: frozenset[str]
    permissions: frozenset[str]
    second_factor: bool
    """False if the user has two-step verification and signed in without a code."""
    token_id: str
    expires_at: int = _NO_EXPIRY
    """Seconds since the epoch. The handlers check it again, because the gateway caches the
    authorizer's result for minutes."""
    session: str | None = None
    """Id of the user's session; None for integration clients."""
    roles: frozenset[str] = frozenset()
    """Ids of the roles that grant the permissions."""

    @property
    def actor_type(self) -> Literal["client", "user"]:
        """What acts: an integration client or a person."""
        return "client" if self.kind == "client" else "user"

    @property
    def user_id(self) -> int | None:
        """Id of the calling user; None for an integration client."""
        is_user = self.kind != "client" and self.subject.isdecimal()
        return int(self.subject) if is_user else None

    @classmethod
    def from_context(cls, flat: Mapping[str, str]) -> "Caller":
        """Parse the authorizer's flat context, in which list values are separated by spaces.

        An optional entry that is empty may also be missing; both give no rights.

        Raises:
            KeyError: A required entry is missing, so this is not the authorizer's context.
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
        """Return the flat context that API Gateway passes from the authorizer to the handlers."""
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

"""Conversion of users and roles to the responses of the interface."""

from shared.identity.users.models import NewUser, Role, StoredRole, User


def new_user(user: User, password: str | None) -> NewUser:
    """Return a user with the generated password; None if the request contained the password."""
    return NewUser(**dict(user), password=password)


def role(stored: StoredRole) -> Role:
    """Return the response model of a role."""
    return Role(**{name: getattr(stored, name) for name in Role.model_fields})

"""How users and roles are shown."""

from shared.identity.users.models import NewUser, Role, StoredRole, User


def new_user(user: User, password: str | None) -> NewUser:
    """Show a user with the password that was made for them; None where the request gave one."""
    return NewUser(**dict(user), password=password)


def role(stored: StoredRole) -> Role:
    """Show a role."""
    return Role(**{name: getattr(stored, name) for name in Role.model_fields})

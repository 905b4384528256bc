"""`stowage tenant settings`."""

from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import Any

import click
from pydantic.fields import FieldInfo

from cli.operator import CommandContext, command
from operations import provisioning, tenant_changes
from shared.identity.tenancy.tenant import Tenant
from shared.warehouse.settings.values import (
    CHOICES,
    MAX_EXTENSION_DIGIT,
    MAX_VALUES,
    OPTIONAL,
    Settings,
    settings_of,
)


class _Number(click.ParamType):
    """A decimal number, without loss of digits."""

    name = "number"

    def convert(self, value: Any, param: Any, ctx: Any) -> Decimal:
        try:
            return Decimal(value)
        except InvalidOperation:
            self.fail(f"{value} is not a number", param, ctx)


class _NumberOrNone(_Number):
    """A decimal number, or `none`."""

    name = "number|none"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        return value if value == _NONE else super().convert(value, param, ctx)


_NONE = "none"
"""Removes the value of a setting; click calls an absent option None."""


def _settings_row(tenant: Tenant) -> dict[str, Any]:
    row = {"tenant": tenant.slug, "timezone": tenant.timezone}
    return row | settings_of(tenant.company).model_dump()


def _option(name: str, field: FieldInfo) -> Callable[[Any], Any]:
    """Return the option that changes a setting."""
    flag = f"--{name.replace('_', '-')}"
    if isinstance(field.default, bool):
        return click.option(f"{flag}/--no-{flag[2:]}", default=None, help=field.description)
    kind: Any = None
    if name in MAX_VALUES:
        kind = _NumberOrNone() if name in OPTIONAL else _Number()
    elif name in CHOICES:
        kind = click.Choice(CHOICES[name])
    elif isinstance(field.default, int):
        kind = click.IntRange(0, MAX_EXTENSION_DIGIT)
    return click.option(flag, type=kind, help=field.description)


def _options[C: Callable[..., Any]](function: C) -> C:
    for name, field in reversed(Settings.model_fields.items()):
        function = _option(name, field)(function)
    return function


@click.command()
@click.argument("slug")
@click.option("--timezone", help="Time zone, for example Europe/Madrid.")
@_options
@command
def settings(
    operator: CommandContext, *, slug: str, **options: Decimal | str | bool | None
) -> None:
    """Change settings of SLUG; without options, show them.

    \b
    Examples:
      stowage tenant settings acme --receipt-tolerance 5 --pick-substitution batch
      stowage tenant settings acme --timezone Europe/Madrid --commit-drops
      stowage tenant settings acme --approval-shortage-percent 10 --approval-adjustment-qty none
      stowage tenant settings acme
    """  # noqa: D301  click reads the backspace
    changes = {
        name: None if value == _NONE and name in OPTIONAL else value
        for name, value in options.items()
        if value is not None
    }
    found = (
        provisioning.set_settings(slug, changes) if changes else tenant_changes.show_tenant(slug)
    )
    operator.output.one(_settings_row(found))

"""`stowage tenant settings`."""

from decimal import Decimal, InvalidOperation
from typing import Any

import click

from cli.operator import CommandContext, command
from operations import provisioning, tenant_changes
from shared.identity.tenancy.tenant import Tenant
from shared.warehouse.settings.values import (
    MAX_EXTENSION_DIGIT,
    OPTIONAL_NUMBERS,
    SUBSTITUTIONS,
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
_OPTIONAL = OPTIONAL_NUMBERS | {"gs1_company_prefix"}


def _settings_row(tenant: Tenant) -> dict[str, Any]:
    row = {"tenant": tenant.slug, "timezone": tenant.timezone}
    return row | settings_of(tenant.company).model_dump()


@click.command()
@click.argument("slug")
@click.option("--timezone", help="Time zone, for example Europe/Madrid.")
@click.option(
    "--receipt-tolerance", type=_Number(),
    help="Percentage that may be received above the ordered quantity without approval.",
)  # fmt: skip
@click.option(
    "--pick-substitution", type=click.Choice(list(SUBSTITUTIONS)),
    help="Which other stock may be picked instead of the allocated stock.",
)  # fmt: skip
@click.option("--minutes-per-unit", type=_Number(), help="Standard minutes to pick one unit.")
@click.option("--minutes-per-trip", type=_Number(), help="Standard minutes of one trip.")
@click.option(
    "--commit-drops/--no-commit-drops", default=None,
    help="Commit the valid rows of files dropped into the bucket automatically.",
)  # fmt: skip
@click.option(
    "--imports-require-kind-scope/--no-imports-require-kind-scope", default=None,
    help="Require also the scope or permission of what an import contains.",
)  # fmt: skip
@click.option(
    "--approval-shortage-percent", type=_NumberOrNone(),
    help="Percentage of a picking that may be short without approval, or none.",
)  # fmt: skip
@click.option(
    "--approval-adjustment-qty", type=_NumberOrNone(),
    help="Units that a stock adjustment may change without approval, or none.",
)  # fmt: skip
@click.option(
    "--blind-returns/--no-blind-returns", default=None,
    help="Accept returns without an exit document.",
)  # fmt: skip
@click.option(
    "--packing-required/--no-packing-required", default=None, help="Dispatch packed goods only.",
)  # fmt: skip
@click.option(
    "--rfid-required/--no-rfid-required", default=None,
    help="Complete packing orders only after a passed RFID validation.",
)  # fmt: skip
@click.option("--gs1-company-prefix", help="4 to 12 digits assigned by GS1, or none.")
@click.option(
    "--sscc-extension-digit", type=click.IntRange(0, MAX_EXTENSION_DIGIT),
    help="First digit of the SSCCs of new handling units.",
)  # fmt: skip
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
        name: None if value == _NONE and name in _OPTIONAL else value
        for name, value in options.items()
        if value is not None
    }
    found = (
        provisioning.set_settings(slug, changes) if changes else tenant_changes.show_tenant(slug)
    )
    operator.output.one(_settings_row(found))

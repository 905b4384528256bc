"""The passphrase of an export: from the environment or a prompt, never from an argument."""

import os
import sys

import click

from cli.confirmation import WRONG_USAGE
from cli.operator import CommandFailed

VARIABLE = "STOWAGE_PASSPHRASE"


def read_passphrase(*, new: bool) -> str:
    """Return the passphrase; with `new`, it is typed twice.

    Raises:
        CommandFailed: The variable is not set, and there is no terminal to ask at.
    """
    if given := os.environ.get(VARIABLE):
        return given
    if not sys.stdin.isatty():
        raise CommandFailed(
            f"The command needs a passphrase, and there is no terminal. Set {VARIABLE} in scripts.",
            "passphrase_required",
            WRONG_USAGE,
        )
    typed: str = click.prompt(
        "Passphrase of the export", hide_input=True, confirmation_prompt=new, err=True
    )
    return typed

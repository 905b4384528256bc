"""Lists of the commands of `stowage`."""

from collections.abc import Iterator

import click

from cli.main import main


def asking() -> str:
    """Return the commands that ask before they change something: those with the option --yes."""
    names = [
        name
        for name, command in _commands(main)
        if any(option.name == "yes" for option in command.params)
    ]
    return ", ".join(f"`{name}`" for name in names) + "\n"


def _commands(group: click.Group, *names: str) -> Iterator[tuple[str, click.Command]]:
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from _commands(command, *names, name)
        else:
            yield " ".join((*names, name)), command

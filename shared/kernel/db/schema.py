"""The version of the schema of a tenant's table, and which tables this code serves.

A version is a set of indexes, and for each collection the facets and index entries that its items
have. A release that adds one raises SCHEMA_VERSION by one, and says in `Collection.since` what is
new. Its code serves tables of its version and of the one before, until `stowage tenant upgrade` has
upgraded every table.
"""

from dataclasses import dataclass

from shared.kernel.errors import UnservedTable

SCHEMA_VERSION = 4
"""The version of a new table."""

FIRST_VERSION = 1
"""The version of items that name none, and of a table without the item VERSION_KEY."""

VERSION_KEY = ("schema", "HEAD")
"""Key of the item of a tenant's table that has its version in `version`, from the second version
on. A restored table says with it which version it had at that moment."""


@dataclass(frozen=True, slots=True)
class TableVersion:
    """The version of a table. The three numbers differ only while the table is being upgraded."""

    complete: int
    """Every item has the facets and index entries of this version. Lists rely on it."""
    written: int
    """Changes write items as in this version."""
    announced: int
    """The version that the table is going to have. Code that does not know it must not write."""

    @classmethod
    def of(cls, number: int) -> "TableVersion":
        """Return the version of a table that is not being upgraded."""
        return cls(number, number, number)


def current_version() -> TableVersion:
    """Return the version of a new table."""
    return TableVersion.of(SCHEMA_VERSION)


def oldest_served() -> int:
    """Return the lowest version that this code serves."""
    return max(FIRST_VERSION, SCHEMA_VERSION - 1)


def served(tenant: str, version: TableVersion | None) -> TableVersion:
    """Return the version of a tenant's table if this code serves it.

    Raises:
        UnservedTable: The version is unknown, older than the one before, or newer.
    """
    if version and oldest_served() <= version.complete and version.announced <= SCHEMA_VERSION:
        return version
    raise UnservedTable(f"The table of {tenant} {_reason(version)}")


def _reason(version: TableVersion | None) -> str:
    oldest, newest = oldest_served(), SCHEMA_VERSION
    served_ones = f"version {newest}" if oldest == newest else f"versions {oldest} and {newest}"
    if version is None:
        return (
            f"has no version, and this release serves {served_ones}. An earlier release created "
            "it; it can only be used with that release."
        )
    if version.complete < oldest:
        return (
            f"has version {version.complete}, and this release serves {served_ones}. Deploy the "
            f"release with version {version.complete + 1}, and upgrade the table with it first."
        )
    return (
        f"has version {version.announced}, and this release serves {served_ones}. Deploy a release "
        f"that serves version {version.announced}."
    )

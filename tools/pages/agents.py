"""The table of the tools of agents, made from their declarations."""

from functions.mcp.handler import TOOLS
from tools.openapi import declared
from tools.pages.markers import table


def tools() -> str:
    """Return the table of the tools, with what integration clients and users need."""
    known = {operation.name: operation for operation in declared.operations()}
    rows = []
    for tool in TOOLS.values():
        called = [known[name] for name in tool.operations]
        scopes = dict.fromkeys(f"`{operation.scope}`" for operation in called)
        permissions = dict.fromkeys(f"`{one.permission}`" for one in called if one.permission)
        operations = ", ".join(f"`{name}`" for name in tool.operations)
        rights = " ".join(permissions) or "any valid token"
        rows.append((f"`{tool.name}`", tool.title, operations, " ".join(scopes), rights))
    return table(("Tool", "What it does", "Operations", "Scope", "Permission of users"), rows)

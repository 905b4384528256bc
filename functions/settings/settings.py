"""How a company works."""

from shared.http.operations import Routes

routes = Routes("settings")

"""Who did what to credentials, settings and stock."""

from shared.http.operations import Routes

routes = Routes("settings")

"""People who use the instance."""

from shared.http.operations import Routes

routes = Routes("settings")

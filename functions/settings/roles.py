"""Named sets of permissions."""

from shared.http.operations import Routes

routes = Routes("settings")

"""Credentials of ERPs, shops and mobile applications."""

from shared.http.operations import Routes

routes = Routes("settings")

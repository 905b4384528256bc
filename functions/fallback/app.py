"""Every path that no other function owns: 404 in the error envelope."""

from shared.http.api_handler import ApiHandler

lambda_handler = ApiHandler()

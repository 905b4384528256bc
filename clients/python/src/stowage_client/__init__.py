"""A client of the Stowage REST API.

Types and calls are generated from the OpenAPI document into `stowage_client.interface`. The other
modules have what a generator cannot know: tokens, keys, retries, pages, changes and signatures.
"""

from stowage_client.client import Page, Stowage, StowageError
from stowage_client.deliveries import BadSignatureError, verify_delivery

__all__ = ["BadSignatureError", "Page", "Stowage", "StowageError", "verify_delivery"]

"""Generation of the OpenAPI document from the declarations of the routes."""

"""The service over HTTP: routes, keys, limits, the OpenAPI document, pages, and the server."""

"""The OpenAPI document as a Postman collection: each operation is a request that can be sent.

The requests are those of the document with its examples. Optional query parameters are listed and
off. A script gets the token of the client in the variables, and another one when it expires. Each
sending has a new Idempotency-Key.
"""

import json
import re
from typing import Any

from tools.openapi.schemas import Schema

_METHODS = ("get", "post", "put", "patch", "delete")
_SCHEMA = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"
_VARIABLES = {
    "base": "https://acme.stowage.example/api/v1",
    "client_id": "",
    "client_secret": "",
    "token": "",
    "expires_at": "0",
}
_ABOUT = """\
Set `base`, `client_id` and `client_secret` in the variables of the collection or in an environment,
then send any request. The requests are those of the OpenAPI document.
"""
_SCRIPT = """\
const of = pm.variables, kept = pm.collectionVariables;
if (of.get("client_id") && Number(of.get("expires_at")) < Date.now()) {
  const form = ["client_id", "client_secret"].map((key) => ({key, value: of.get(key)}));
  pm.sendRequest({
    url: pm.variables.replaceIn("{{base}}/oauth/token"),
    method: "POST",
    header: {"Content-Type": "application/x-www-form-urlencoded"},
    body: {
      mode: "urlencoded",
      urlencoded: [{key: "grant_type", value: "client_credentials"}, ...form],
    },
  }, (error, response) => {
    if (error || response.code !== 200) throw new Error(error || response.text());
    kept.set("token", response.json().access_token);
    kept.set("expires_at", Date.now() + (response.json().expires_in - 60) * 1000);
  });
}"""
"""Gets a token before a request, unless there is one that is valid."""


def collection(document: Schema) -> Schema:
    """Return the collection of an OpenAPI document, with a folder for each tag of its paths."""
    by_tag: dict[str, list[Schema]] = {}
    for path, operations in document["paths"].items():
        for method in _METHODS:
            if method in operations:
                operation = operations[method]
                (tag,) = operation["tags"]
                by_tag.setdefault(tag, []).append(_request(document, path, method, operation))
    about = {"name": document["info"]["title"], "description": _ABOUT, "schema": _SCHEMA}
    script = {"type": "text/javascript", "exec": _SCRIPT.split("\n")}
    token = {"key": "token", "value": "{{token}}", "type": "string"}
    return {
        "info": {**about, "version": document["info"]["version"]},
        "auth": {"type": "bearer", "bearer": [token]},
        "event": [{"listen": "prerequest", "script": script}],
        "variable": [{"key": name, "value": value} for name, value in _VARIABLES.items()],
        "item": [{"name": tag, "item": requests} for tag, requests in by_tag.items()],
    }


def _request(document: Schema, path: str, method: str, operation: Schema) -> Schema:
    parameters = [_resolved(document, one) for one in operation.get("parameters", [])]
    names = re.sub(r"\{(\w+)\}", r":\1", path)
    query = [
        {**_value(one), "disabled": not one.get("required")}
        for one in parameters
        if one["in"] == "query"
    ]
    request = {
        "method": method.upper(),
        "description": operation["description"],
        "header": [
            {**_value(one), "value": "{{$guid}}"}
            for one in parameters
            if one["name"] == "Idempotency-Key"
        ],
        "url": {
            "raw": "{{base}}" + names,
            "host": ["{{base}}"],
            "path": names.strip("/").split("/"),
            "query": query,
            "variable": [_value(one) for one in parameters if one["in"] == "path"],
        },
        **_body(document, operation),
    }
    if not any("client" in way for way in operation["security"]):
        request["auth"] = {"type": "noauth"}
    return {"name": operation["summary"], "request": request}


def _resolved(document: Schema, one: Schema) -> Schema:
    """Return what a reference stands for."""
    found: Any = document
    for name in one["$ref"].removeprefix("#/").split("/") if "$ref" in one else []:
        found = found[name]
    return one if found is document else found


def _value(parameter: Schema) -> Schema:
    value = parameter.get("example", parameter["schema"].get("default", ""))
    text = value if isinstance(value, str) else json.dumps(value)
    return {"key": parameter["name"], "value": text, "description": parameter["description"]}


def _body(document: Schema, operation: Schema) -> Schema:
    """Return the body of a request; a file is chosen in Postman."""
    if "requestBody" not in operation:
        return {}
    ((media, content),) = operation["requestBody"]["content"].items()
    example = content.get("example", {})
    if media == "application/json":
        text = json.dumps(example, indent=2, ensure_ascii=False)
        return {"body": {"mode": "raw", "raw": text, "options": {"raw": {"language": "json"}}}}
    schema = _resolved(document, content["schema"])
    fields, sent = schema.get("properties", {}), {*example, *schema.get("required", [])}
    form = [
        {"key": name, "type": "file", "src": []}
        if fields.get(name, {}).get("format") == "binary"
        else {"key": name, "value": str(example.get(name, "")), "disabled": name not in sent}
        for name in {**example, **fields}
    ]
    mode = "formdata" if media == "multipart/form-data" else "urlencoded"
    return {"body": {"mode": mode, mode: form}}

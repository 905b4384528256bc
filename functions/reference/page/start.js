"use strict";

// Swagger UI sends the prefilled value of a key with every call, and the second call would repeat the
// response of the first. So the field may be empty, and each call without a key gets a new one.
function addKey(request) {
  const isWrite = request.method !== "GET" && !new URL(request.url).pathname.includes("/oauth/");
  if (isWrite) request.headers["Idempotency-Key"] ||= crypto.randomUUID();
  return request;
}

// The document names an example address; this page is about the one it was loaded from.
async function start() {
  const base = new URL(".", document.baseURI).href.replace(/\/$/, "");
  const answer = await fetch("openapi.json");
  const spec = await answer.json();
  spec.servers = [{ url: base }];
  spec.components.securitySchemes.client.flows.clientCredentials.tokenUrl = `${base}/oauth/token`;
  const { IdempotencyKey, IdempotencyKeyRequired } = spec.components.parameters;
  IdempotencyKeyRequired.required = false;
  for (const parameter of [IdempotencyKey, IdempotencyKeyRequired]) {
    parameter.description += " Empty: this page sends a new one with each call.";
  }
  window.SwaggerUIBundle({
    spec,
    dom_id: "#reference",
    deepLinking: true,
    docExpansion: "list",
    filter: true,
    defaultModelsExpandDepth: 0,
    displayRequestDuration: true,
    validatorUrl: null,
    requestInterceptor: addKey,
  });
}

start();

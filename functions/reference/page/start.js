"use strict";

// The document names an example address; this page is about the one it was loaded from.
async function start() {
  const base = new URL(".", document.baseURI).href.replace(/\/$/, "");
  const answer = await fetch("openapi.json");
  const spec = await answer.json();
  spec.servers = [{ url: base }];
  spec.components.securitySchemes.client.flows.clientCredentials.tokenUrl = `${base}/oauth/token`;
  window.SwaggerUIBundle({
    spec,
    dom_id: "#reference",
    deepLinking: true,
    docExpansion: "list",
    filter: true,
    defaultModelsExpandDepth: 0,
    displayRequestDuration: true,
    validatorUrl: null,
  });
}

start();

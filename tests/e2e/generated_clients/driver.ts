// A story with the client of clients/typescript, checked by tsc and sent to the running stack. Every
// third answer is lost, and every fifth request is answered by a proxy that is busy.
// Reads BASE_URL, CLIENT_ID, CLIENT_SECRET and RUN from the environment, and prints the number of calls.
import { createHmac } from "node:crypto";

import { Stowage, StowageError, verifyDelivery, type components } from "stowage-client";

type ErrorResponse = components["schemas"]["ErrorResponse"];

const { BASE_URL, CLIENT_ID, CLIENT_SECRET, RUN } = process.env as Record<string, string>;
const item = `ITEM-${RUN}`;
const code = `W${RUN}`;
const bin = "A-01";
let sent = 0;
const stowage = new Stowage({
  baseUrl: BASE_URL ?? "",
  clientId: CLIENT_ID ?? "",
  clientSecret: CLIENT_SECRET ?? "",
  sleep: async (seconds) => new Promise((done) => setTimeout(done, seconds > 4 ? seconds * 1000 : 0)),
  fetch: async (request) => {
    sent += 1;
    if (sent % 5 === 0) return new Response("busy", { status: 503 });
    if (sent === 2) request.headers.set("Authorization", "Bearer expired");
    const response = await fetch(request);
    if (sent % 3 === 0) throw new TypeError("the answer is lost");
    return response;
  },
});
const client = stowage.api;
let calls = 0;

interface Answer<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

/** Returns the body of a success. */
function data<T>(answer: Answer<T>, status = 200): NonNullable<T> {
  calls += 1;
  if (answer.response.status !== status || answer.data === undefined || answer.data === null) {
    throw new Error(`${answer.response.status}: ${JSON.stringify(answer.error)}`);
  }
  return answer.data;
}

/** Returns the body of an error. */
function refusal(answer: { error?: ErrorResponse; response: Response }, status: number): ErrorResponse {
  calls += 1;
  if (answer.response.status !== status || answer.error === undefined) {
    throw new Error(`${answer.response.status} instead of ${status}`);
  }
  return answer.error;
}

function check(holds: boolean, what: string): void {
  if (!holds) throw new Error(what);
}

function key(name: string) {
  return { header: { "Idempotency-Key": `${name}-${RUN}` } };
}

const product = data(
  await client.POST("/products", { params: key("product"), body: { item_code: item, name: "Drill" } }),
  201,
).data;
const path = { path: { id: product.id } };
check(data(await client.GET("/products/{id}", { params: path })).data.barcode === null, "barcode");
const changed = data(await client.PATCH("/products/{id}", { params: path, body: { barcode: "4006" } }));
check(changed.data.barcode === "4006", "changed barcode");

// A list page by page, and what changes behind it.
const objects = ["product"] as const;
const copy = new Map<string | number, string>();
let position: string | null = null;
for await (const page of stowage.follow(position, objects)) {
  for await (const { id, resource } of page.changes) copy.set(id, String(resource?.["item_code"]));
  position = page.position;
}
check(copy.get(product.id) === item, "the product is in the snapshot");
const codes = [];
for await (const one of stowage.each("/products", { sort: "-created_at", per_page: 2 })) {
  codes.push(one.item_code);
  if (codes.length === 5) break;
}
check(codes.includes(item), "the product is in the list");

const missing = refusal(
  await client.GET("/products/{id}", { params: { path: { id: 999_999_999 } } }),
  404,
);
check(missing.error.code === "not_found", missing.error.code);
const invalid = refusal(await client.POST("/products", { body: { name: "" } }), 422);
check(invalid.errors.map((one) => one.field).sort().join() === "item_code,name", invalid.message);

data(await client.POST("/warehouses", { body: { whs_code: code, name: "Hall" } }), 201);
data(await client.POST("/warehouse-positions", { body: { whs_code: code, bin_code: bin } }), 201);
const order: components["schemas"]["EntryDraft"] = {
  external_ref: `PO-${RUN}`,
  type: "purchase_order",
  doc_date: "2026-03-01",
  partner_code: "P-1",
  warehouse_code: code,
  lines: [{ item_code: item, qty: 10 }],
};
const entered = data(
  await client.POST("/entry-documents", { params: key("entry"), body: order }),
  201,
).data;
const again = data(
  await client.POST("/entry-documents", {
    params: key("again"),
    body: { ...order, comments: "Gate 2" },
  }),
);
check(again.data.id === entered.id && /comments/.test(again.warning ?? ""), "warning");

const receipt = data(await client.POST("/receipts", { body: { document_id: entered.id } }), 201).data;
const work = { params: { path: { id: receipt.id } } };
data(await client.POST("/receipts/{id}/start", work));
data(
  await client.POST("/receipts/{id}/lines", {
    ...work,
    body: { item_code: item, qty: 10, bin_code: bin },
  }),
);
data(await client.POST("/receipts/{id}/finalize", work));
const shown = data(
  await client.GET("/entry-documents/{id}", { params: { path: { id: entered.id } } }),
).data;
check(shown.lines[0]?.received_qty === 10, "received quantity");
const levels = data(await client.GET("/stock-levels", { params: { query: { item_code: item } } }));
check(levels.data[0]?.available === 10, "available quantity");

const leaving = data(
  await client.POST("/exit-documents", {
    params: key("exit"),
    body: {
      ...order,
      external_ref: `SO-${RUN}`,
      type: "sale_order",
      priority: "Alta",
      lines: [{ item_code: item, qty: 4 }],
    },
  }),
  201,
).data;
check(leaving.priority === 1, "priority");
const picking = data(
  await client.POST("/pickings", { body: { document_id: leaving.id } }),
  201,
).data;
check(picking.lines[0]?.bin_code === bin, "position to pick from");
const used = refusal(await client.DELETE("/products/{id}", { params: path }), 409);
check(used.error.code === "conflict", used.error.code);
check(data(await client.GET("/settings")).data.plan === "enterprise", "plan");
data(await client.GET("/webhooks"));
const template = data(
  await client.GET("/imports/templates/{kind}", {
    params: { path: { kind: "products" } },
    parseAs: "arrayBuffer",
  }),
);
check(template.byteLength > 1000, "template");

const renamed = data(await client.PATCH("/products/{id}", { params: path, body: { name: "Hammer" } })).data;
let followed = false;
for (let attempt = 0; attempt < 100 && !followed; attempt += 1) {
  for await (const page of stowage.follow(position, objects)) {
    for await (const one of page.changes) followed ||= one.id === product.id && one.resource?.["name"] === renamed.name;
    position = page.position;
  }
  await new Promise((done) => setTimeout(done, 100));
}
check(followed, "the change of the name is followed");
try {
  for await (const _ of stowage.each("/stocks", { item_code: "" })) break;
  check(false, "an empty filter is refused");
} catch (error) {
  check(error instanceof StowageError && error.status === 422 && "item_code" in error.problems, String(error));
}

const body = JSON.stringify({ type: "stock.updated" });
const sign = (secret: string, at: number) =>
  `t=${at},v1=${createHmac("sha256", secret).update(`${at}.${body}`).digest("hex")}`;
check(JSON.stringify(verifyDelivery("whsec_a", sign("whsec_a", 1000), body, 1200)) === body, "event");
for (const [signature, now] of [[sign("whsec_b", 1000), 1000], [sign("whsec_a", 1000), 1301], ["", 1000], [null, 1000]] as const) {
  let refused = false;
  try {
    verifyDelivery("whsec_a", signature, body, now);
  } catch {
    refused = true;
  }
  check(refused, `signature ${signature} at ${now}`);
}
console.log(`${calls} calls`);

// Calls of the generated TypeScript client, checked by tsc and sent to the running stack.
// Reads BASE_URL, TOKEN and RUN from the environment, and prints the number of calls.
import createClient from "openapi-fetch";
import type { components, paths } from "./stowage.js";

type ErrorResponse = components["schemas"]["ErrorResponse"];

const { BASE_URL, TOKEN, RUN } = process.env as Record<"BASE_URL" | "TOKEN" | "RUN", string>;
const item = `ITEM-${RUN}`;
const code = `W${RUN}`;
const bin = "A-01";
const client = createClient<paths>({
  baseUrl: BASE_URL,
  headers: { Authorization: `Bearer ${TOKEN}` },
});
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

// A list page by page, with the cursor alone.
const first = data(
  await client.GET("/products", { params: { query: { sort: "-created_at", per_page: 2 } } }),
);
let codes = first.data.map((one) => one.item_code);
let following = first.links.next;
for (let page = 0; following !== null && page < 3; page += 1) {
  const cursor = new URL(following).searchParams.get("cursor") ?? "";
  const next = data(
    await client.GET("/products", { params: { query: { sort: "-created_at", cursor } } }),
  );
  codes = codes.concat(next.data.map((one) => one.item_code));
  following = next.links.next;
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
console.log(`${calls} calls`);

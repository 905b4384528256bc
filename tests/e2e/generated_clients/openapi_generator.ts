/** Calls of the fetch client of openapi-generator, compiled and sent to the running stack. */
import {
  Configuration,
  ExitDocumentsApi,
  ProductsApi,
  ResponseError,
  WebhooksApi,
} from "./generated/index.js";

const { BASE_URL = "", TOKEN = "", RUN = "" } = process.env;
const configuration = new Configuration({ basePath: BASE_URL, accessToken: TOKEN });
const products = new ProductsApi(configuration);
let calls = 0;

/** Wait for a call, and count it. */
async function counted<T>(call: Promise<T>): Promise<T> {
  calls += 1;
  return await call;
}

function check(holds: boolean, what: string): void {
  if (!holds) throw new Error(what);
}

const made = await counted(
  products.createProduct({
    idempotencyKey: `fetch-${RUN}`,
    productCreate: { itemCode: `FETCH-${RUN}`, name: "A product" },
  }),
);
const found = await counted(products.listProducts({ itemCode: `FETCH-${RUN}` }));
check(found.data[0]?.id === made.data.id, "the product is not in its list");

const status = await counted(products.getProduct({ id: 999_999_999 })).then(
  () => 200,
  (error: unknown) => (error instanceof ResponseError ? error.response.status : 0),
);
check(status === 404, `an unknown product is ${status}`);

const orders = await counted(new ExitDocumentsApi(configuration).listExitDocuments({ perPage: 2 }));
check(orders.data.length === 2 && orders.meta.total > 2, "orders are missing");
await counted(new WebhooksApi(configuration).listWebhooks());
console.log(`${calls} calls`);

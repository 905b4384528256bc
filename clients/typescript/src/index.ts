/**
 * A client of the Stowage REST API. Types and paths are generated from the OpenAPI document; here
 * is what a generator cannot know: tokens, keys, retries, pages, changes and signatures.
 */

import { createHmac, timingSafeEqual } from "node:crypto";
import { gunzipSync } from "node:zlib";

import createClient, { type Client } from "openapi-fetch";
import type { components, paths } from "./interface.js";

export type { components, operations, paths } from "./interface.js";

/** They take 31 s or more; a request that failed may hold its key for up to 30 s. */
const ATTEMPTS = 7;
/** Most seconds between two attempts, also if Retry-After is longer. */
const LONGEST_WAIT = 60;
/** Milliseconds that a request may take. */
const TIMEOUT = 35_000;
/** Greatest age of a delivery in seconds, and greatest difference between two clocks. */
const TOLERANCE = 300;
const BUSY = [429, 500, 502, 503, 504];
const UNAUTHORIZED = 401;

export interface Options {
  /** Ends in /api/v1. */
  baseUrl: string;
  clientId: string;
  clientSecret: string;
  /** For a proxy, and for tests. */
  fetch?: (request: Request) => Promise<Response>;
  /** Waits for some seconds; for tests. */
  sleep?: (seconds: number) => Promise<unknown>;
}

type Lists = {
  [Path in keyof paths]: paths[Path] extends {
    get: { responses: { 200: { content: { "application/json": { data: (infer Row)[]; links: unknown } } } } };
  }
    ? Row
    : never;
};
/** Paths of the lists. */
export type ListPath = {
  [Path in keyof Lists]: [Lists[Path]] extends [never] ? never : Path;
}[keyof Lists];
/** A row of a list. */
export type Row<Path extends ListPath> = Lists[Path];
/** Filters, sort and page size of a list. */
export type Query<Path extends ListPath> = paths[Path] extends {
  get: { parameters: { query?: infer Parameters } };
}
  ? Parameters
  : never;
type Body<Path extends keyof paths> = paths[Path] extends {
  post: { requestBody: { content: { "application/json": infer Sent } } };
}
  ? Sent
  : never;
/** An object of the feed of changes, such as product. */
export type ListedObject = Body<"/exports">["objects"][number];
type Export = components["schemas"]["ExportDetail"];
type Entry = paths["/changes"]["get"]["responses"][200]["content"]["application/json"]["data"][number];
/** A change of one resource; `resource` is what its list shows of it now, null if it is deleted. */
export type Change = Pick<Entry["changes"][number], "object" | "id" | "version" | "resource">;

/** What changed up to a position. A snapshot has all rows instead. */
export interface Page {
  position: string;
  changes: AsyncIterable<Change>;
  isSnapshot: boolean;
}

/** An error response. */
export class StowageError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    /** Field → message. */
    readonly problems: Readonly<Record<string, string>>,
    readonly requestId: string | null,
  ) {
    super(`${status} ${code}: ${message} (request ${requestId})`);
  }

  static async of(response: Response): Promise<StowageError> {
    const body = await errorOf(response);
    const problems = (body.errors ?? []).map(({ field, message }) => [field, message]);
    return new StowageError(
      response.status,
      body.error?.code ?? `http_${response.status}`,
      body.error?.message ?? response.statusText,
      Object.fromEntries(problems),
      response.headers.get("X-Request-Id"),
    );
  }
}

interface ErrorBody {
  error?: { code?: string; message?: string };
  errors?: readonly { field: string; message: string }[];
}

/** The client. `api` has a typed method for each operation, see openapi-fetch. */
export class Stowage {
  readonly api: Client<paths>;
  readonly #options: Required<Options>;
  #bearer = "";
  #expiresAt = 0;
  #granting: Promise<void> | undefined;

  constructor(options: Options) {
    const sleep = (seconds: number) => new Promise((done) => setTimeout(done, seconds * 1000));
    this.#options = { fetch: (request) => fetch(request), sleep, ...options };
    this.api = createClient<paths>({
      baseUrl: options.baseUrl,
      fetch: (request) => this.send(request),
    });
  }

  /** Yields all rows of a list, page by page along `links.next`. */
  async *each<Path extends ListPath>(path: Path, query?: Query<Path>): AsyncGenerator<Row<Path>> {
    const address = new URL(this.#options.baseUrl + path);
    for (const [name, value] of Object.entries({ per_page: 100, ...(query as object) })) {
      address.searchParams.set(name, String(value));
    }
    let next: string | null = address.href;
    while (next !== null) {
      const page: { data: Row<Path>[]; links: { next: string | null } } = await this.#read(next);
      yield* page.data;
      next = page.links.next;
    }
  }

  /**
   * Yields what changed in the lists of objects since a position, page by page.
   *
   * `objects` are names such as product and stock_level. Store the rows and the position of a page
   * in one transaction. Without a position, and when it is too old or the company was restored, the
   * first page is a snapshot: it has all rows, in place of those that you have. Throws an Error if
   * the company is restored while it is read: undo what the page has changed, and follow again.
   */
  async *follow(position: string | null, objects: readonly ListedObject[]): AsyncGenerator<Page> {
    for (;;) {
      if (position === null) {
        const exported = await this.export(objects);
        position = `${exported.epoch}:${exported.position}`;
        yield { position, changes: this.#rows(exported), isSnapshot: true };
      }
      const [epoch = "", after = ""] = position.split(":");
      const query = new URLSearchParams({ after, epoch, objects: objects.join() });
      let page: { data: Entry[]; meta: { last: number; latest: number; epoch: number } };
      try {
        page = await this.#read(`/changes?${query}&include=resource&per_page=500`);
      } catch (error) {
        if (!(error instanceof StowageError && error.code === "gone")) throw error;
        position = null;
        continue;
      }
      position = `${page.meta.epoch}:${page.meta.last}`;
      yield { position, changes: this.#changesOf(page.data), isSnapshot: false };
      if (page.meta.last === page.meta.latest) return;
    }
  }

  /**
   * Exports the lists of objects, and returns the completed export.
   *
   * Throws a StowageError with the code `conflict` while another export of the company is made: try
   * again later.
   */
  async export(objects: readonly ListedObject[]): Promise<Export> {
    const body = JSON.stringify({ objects });
    const headers = { "Content-Type": "application/json" };
    let exported = await this.#read<{ data: Export }>("/exports", { method: "POST", headers, body });
    while (["pending", "running"].includes(exported.data.status)) {
      await this.#options.sleep(1);
      exported = await this.#read(`/exports/${exported.data.id}`);
    }
    if (exported.data.status !== "completed") {
      throw new Error(`${exported.data.code} is ${exported.data.status}: ${exported.data.failure}`);
    }
    return exported.data;
  }

  async *#changesOf(entries: readonly Entry[]): AsyncGenerator<Change> {
    for (const change of entries.flatMap((entry) => entry.changes)) {
      // A change of a very large transaction has no row.
      yield "resource" in change ? change : { ...change, resource: await this.#rowOf(change) };
    }
  }

  async #rowOf({ href, id }: Entry["changes"][number]): Promise<Record<string, never> | null> {
    const address = new URL(href.includes("?") ? href : href.slice(0, href.lastIndexOf("/")));
    if (!address.search) address.searchParams.set("ids", String(id));
    address.searchParams.set("include", "version");
    for (let next: string | null = address.href; next !== null; ) {
      const page: { data: Record<string, never>[]; links: { next: string | null } } =
        await this.#read(next);
      const row = page.data.find((one) => one["id"] === id);
      if (row) return row;
      next = page.links.next;
    }
    return null;
  }

  async *#rows({ id: exportId, files }: Export): AsyncGenerator<Change> {
    for (const [number, { object }] of files.entries()) {
      const fresh = await this.#read<{ data: Export }>(`/exports/${exportId}`); // links last minutes
      const link = fresh.data.files[number]?.url;
      // Nobody can follow from there any more.
      if (!link) throw new Error(`the files of ${fresh.data.code} are gone: export again`);
      const file = await this.#sendWithRetries(() => new Request(link)); // without a token
      if (!file.ok) throw await StowageError.of(file);
      const text = gunzipSync(await file.arrayBuffer()).toString("utf8");
      for (const line of text.split("\n").filter(Boolean)) {
        const resource = JSON.parse(line);
        yield { object, id: resource.id, version: resource.version, resource };
      }
    }
  }

  async #read<T>(path: string, init?: RequestInit): Promise<T> {
    const url = path.startsWith("http") ? path : this.#options.baseUrl + path;
    const response = await this.send(new Request(url, init));
    if (!response.ok) throw await StowageError.of(response);
    return (await response.json()) as T;
  }

  /**
   * Sends a request with a token, an Idempotency-Key if it writes and has none, and retries.
   *
   * Throws what `fetch` throws if there was no response. A write may have taken effect: repeat it
   * with the same key.
   */
  async send(request: Request): Promise<Response> {
    const headers = new Headers(request.headers);
    headers.set("Accept", headers.get("Accept") ?? "application/json");
    if (!["GET", "HEAD"].includes(request.method) && !headers.has("Idempotency-Key")) {
      headers.set("Idempotency-Key", crypto.randomUUID());
    }
    const body = request.body === null ? null : await request.arrayBuffer();
    // All attempts send the same bytes.
    const attempt = () => new Request(request.url, { method: request.method, headers, body });
    await this.#authorize(headers);
    let response = await this.#sendWithRetries(attempt);
    if (response.status === UNAUTHORIZED) {
      await this.#authorize(headers);
      response = await this.#sendWithRetries(attempt);
    }
    return response;
  }

  async #authorize(headers: Headers): Promise<void> {
    const rejected = (headers.get("Authorization") ?? "") === this.#bearer;
    if (rejected || Date.now() >= this.#expiresAt) {
      // Requests at the same time share one new token.
      this.#granting ??= this.#grant().finally(() => (this.#granting = undefined));
      await this.#granting;
    }
    headers.set("Authorization", this.#bearer);
  }

  async #grant(): Promise<void> {
    const { baseUrl, clientId, clientSecret } = this.#options;
    const form = { grant_type: "client_credentials", client_id: clientId, client_secret: clientSecret };
    const response = await this.#sendWithRetries(
      () => new Request(`${baseUrl}/oauth/token`, { method: "POST", body: new URLSearchParams(form) }),
    );
    if (!response.ok) throw await StowageError.of(response);
    const grant = (await response.json()) as { access_token: string; expires_in: number };
    this.#bearer = `Bearer ${grant.access_token}`;
    this.#expiresAt = Date.now() + (grant.expires_in - 60) * 1000;
  }

  async #sendWithRetries(request: () => Request): Promise<Response> {
    const { fetch, sleep } = this.#options;
    const once = () => fetch(new Request(request(), { signal: AbortSignal.timeout(TIMEOUT) }));
    for (let attempt = 0; attempt < ATTEMPTS - 1; attempt += 1) {
      const wait = (0.5 + Math.random() / 2) * 2 ** attempt;
      const response = await once().catch(() => null); // The outcome is unknown: retry.
      if (response !== null && !BUSY.includes(response.status)) {
        const { error } = await errorOf(response.clone());
        if (error?.code !== "duplicate_in_flight") return response;
      }
      const after = Number(response?.headers.get("Retry-After") ?? 0) || 0;
      await sleep(Math.min(wait + after, LONGEST_WAIT));
    }
    return once();
  }
}

/** The body of an error; empty if it is from a proxy or gateway, not from the service. */
async function errorOf(response: Response): Promise<ErrorBody> {
  if (response.ok || !response.headers.get("Content-Type")?.includes("json")) return {};
  const body = (await response.json()) as ErrorBody | { error: string; error_description?: string };
  if (typeof body.error !== "string") return body as ErrorBody;
  const { error, error_description: message } = body as { error: string; error_description?: string };
  return { error: { code: error, message: message ?? error } }; // the format of OAuth
}

/**
 * Verifies a webhook delivery and returns its event.
 *
 * `secret` is the whole secret of the subscription, including `whsec_`; `signature` the header
 * X-Service-Signature; `body` the body byte for byte, not parsed and serialized again. Throws an
 * Error if the signature is missing, wrong or too old: answer with 401.
 */
export function verifyDelivery(
  secret: string,
  signature: string | null | undefined,
  body: Uint8Array | string,
  now = Date.now() / 1000,
): unknown {
  const parts = (signature ?? "").split(",").map((part) => part.trim().split("="));
  const times = parts.filter(([name]) => name === "t").map(([, value]) => value ?? "");
  const given = parts.filter(([name]) => name === "v1").map(([, value]) => value ?? "");
  const [sentAt = ""] = times;
  if (times.length !== 1 || !/^\d{1,12}$/.test(sentAt)) {
    throw new Error("X-Service-Signature must have the form t=1700000000,v1=b4c01d…");
  }
  const bytes = Buffer.from(body as Uint8Array);
  const expected = createHmac("sha256", secret).update(`${sentAt}.`).update(bytes).digest("hex");
  // After a rotation there is one v1 for each valid secret.
  if (!given.some((one) => isSame(one, expected))) {
    throw new Error("the signature does not match the body and the secret");
  }
  if (Math.abs(now - Number(sentAt)) > TOLERANCE) {
    throw new Error(`too old, or a clock is wrong: t differs by more than ${TOLERANCE} s`);
  }
  return JSON.parse(bytes.toString("utf8"));
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

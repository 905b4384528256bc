import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { beforeEach, test } from 'node:test';

const PROGRAM = readFileSync(new URL('../../console/floor/worker.js', import.meta.url), 'utf8');
const BASE = 'https://wms.example/console/';
const PAGE = `${BASE}floor/`;

/** What the browser keeps: cache → address → file. */
const kept = /** @type {Map<string, Map<string, Response>>} */ (new Map());
/** Releases whose files the service has, except `gone.js`. */
let served = /** @type {string[]} */ ([]);
let asked = /** @type {string[]} */ ([]);

beforeEach(() => {
  kept.clear();
  [served, asked] = [[], []];
});

/** @param {Request | string} request */
const addressOf = (request) => (typeof request === 'string' ? request : request.url);

/** @param {Request | string} request */
async function fetched(request) {
  const address = addressOf(request);
  asked.push(address);
  if (address === PAGE) {
    return new Response(`<script src="${served.at(-1)}/floor/main.js">`);
  }
  return served.some((release) => address.startsWith(`${BASE}${release}/`)) && !address.endsWith('gone.js')
    ? new Response('file')
    : new Response('', { status: 404 });
}

const caches = {
  open: async (/** @type {string} */ name) => {
    const files = kept.get(name) ?? new Map();
    kept.set(name, files);
    const put = async (/** @type {Request | string} */ request, /** @type {Response} */ file) =>
      void files.set(addressOf(request), file);
    const add = async (/** @type {string} */ address) => {
      const file = await fetched(address);
      if (!file.ok) {
        throw new TypeError(`${address} is missing`);
      }
      await put(address, file);
    };
    return {
      put, add,
      addAll: async (/** @type {string[]} */ addresses) => void (await Promise.all(addresses.map(add))),
      match: async (/** @type {string} */ address) => files.get(address)?.clone(),
      keys: async () => [...files.keys()].map((url) => ({ url })),
    };
  },
  match: async (/** @type {string} */ address) =>
    [...kept.values()].map((files) => files.get(address)).find(Boolean)?.clone(),
  keys: async () => [...kept.keys()],
  delete: async (/** @type {string} */ name) => kept.delete(name),
};

/**
 * Start the worker of a release.
 *
 * @param {string} release
 * @param {string[]} [files]
 * @returns {(type: string, event?: object) => Promise<any>} gives it an event, and waits for it
 */
function workerOf(release, files = ['floor/main.js']) {
  const listeners = /** @type {Record<string, (event: object) => void>} */ ({});
  const world = {
    VERSION: release, FILES: files, caches, fetch: fetched, registration: { scope: PAGE },
    addEventListener: (/** @type {string} */ type, /** @type {() => void} */ listener) => (listeners[type] = listener),
    clients: { claim: async () => undefined },
    skipWaiting: () => undefined,
  };
  new Function(...Object.keys(world), PROGRAM)(...Object.values(world));
  return async (type, event = {}) => {
    let result;
    const take = (/** @type {unknown} */ promise) => (result = promise);
    listeners[type]?.({ waitUntil: take, respondWith: take, ...event });
    return result;
  };
}

/** @param {string} file */
const asking = (file) => ({ request: { mode: 'cors', url: `${BASE}${file}` } });
const releases = () => [...kept.keys()].map((name) => name.replace('stowage.floor ', ''));

/** @param {string} release */
async function installed(release) {
  served = [release];
  const worker = workerOf(release);
  await worker('install');
  return worker;
}

test('a release that could not be installed is not taken for the one before', async () => {
  await (await installed('r1'))('activate');
  served = ['r2'];
  await assert.rejects(workerOf('r2', ['floor/main.js', 'gone.js'])('install'));
  assert.deepEqual(releases(), ['r1']);
  await (await installed('r3'))('activate');
  assert.deepEqual(releases(), ['r1', 'r3'], 'a page in a task goes on with r1');
});

test('a page of another release than the worker is not kept', async () => {
  served = ['r2'];
  await assert.rejects(workerOf('r1')('install'), /another release/);
  assert.deepEqual(releases(), []);
});

test('what is loaded only when it is used is kept from then on, also after an update', async () => {
  const first = await installed('r1');
  assert.equal((await first('fetch', asking('r1/vendor/reader.wasm'))).status, 200);
  assert.equal((await first('fetch', asking('r1/vendor/gone.js'))).status, 404);
  assert.equal(kept.get('stowage.floor r1')?.has(`${BASE}r1/vendor/gone.js`), false, 'no error is kept');
  const { length } = asked;
  assert.equal(await (await first('fetch', asking('r1/vendor/reader.wasm'))).text(), 'file');
  assert.equal(asked.length, length, 'it needs no network');
  assert.equal((await first('fetch', asking('r0/floor/main.js'))).status, 404);

  const second = await installed('r2');
  served = [];
  assert.equal((await second('fetch', asking('r2/vendor/reader.wasm'))).status, 200);
  assert.equal((await second('fetch', asking('r2/vendor/gone.js'))).status, 404);
});

test('calls of the interface are left alone', async () => {
  const worker = await installed('r1');
  assert.equal(await worker('fetch', { request: { mode: 'cors', url: 'https://wms.example/pickings/1' } }), undefined);
});

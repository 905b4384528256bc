/** A page of the floor without a browser: what its modules need of one, and a service behind it. */

import '../../.local/node/node_modules/fake-indexeddb/auto/index.mjs';
import { answer, granted } from './service.js';

/** @typedef {{method: string, path: string, key: string | null, body: any}} Sent */

/** @param {string} code */
export const refused = (code, status = 409) => answer(status, { error: { code, message: `${code}.` } });

export const page = {
  /** @type {Sent[]} what came, without renewals of the session */
  sent: [],
  /** @type {string[]} refresh tokens that were used */
  renewed: [],
  /** @type {(request: Sent) => Response} throws to lose a request or its answer */
  answer: () => answer(200, { data: { id: 1 } }),
  reloads: 0,
  /** @type {Map<string, string>} what the tab keeps */
  tab: new Map(),
};

/** @type {((reason: Error) => void) | null} */
let loseLock = null;
let tokens = 0;

/** What all tabs keep, as a browser has it: its names are those of the object. */
class Kept {
  /** @param {string} name */
  getItem(name) {
    return /** @type {any} */ (this)[name] ?? null;
  }

  /**
   * @param {string} name
   * @param {string} value
   */
  setItem(name, value) {
    Object.assign(this, { [name]: value });
  }
}

const browser = {
  localStorage: new Kept(),
  document: { baseURI: 'https://wms.example/console/', visibilityState: 'visible' },
  location: { reload: () => (page.reloads += 1), assign: () => (page.reloads += 1) },
  addEventListener: () => undefined,
  reportError: (/** @type {unknown} */ error) => {
    throw error;
  },
  sessionStorage: {
    getItem: (/** @type {string} */ name) => page.tab.get(name) ?? null,
    setItem: (/** @type {string} */ name, /** @type {string} */ value) => page.tab.set(name, value),
    removeItem: (/** @type {string} */ name) => page.tab.delete(name),
  },
  navigator: {
    onLine: true,
    languages: ['en-GB'],
    storage: {},
    locks: {
      request: (/** @type {string} */ _name, /** @type {object} */ _options, /** @type {() => void} */ held) => {
        loseLock?.(new Error('stolen'));
        held();
        return new Promise((_, reject) => {
          loseLock = reject;
        });
      },
    },
  },
  fetch: async (/** @type {string} */ url, /** @type {RequestInit} */ init) => {
    const path = url.replace('https://wms.example', '');
    if (path === '/oauth/token') {
      const used = new URLSearchParams(String(init.body)).get('refresh_token');
      page.renewed.push(...(used === null ? [] : [used]));
      return granted(`refresh-${(tokens += 1)}`);
    }
    const { 'Idempotency-Key': key = null } = /** @type {Record<string, string>} */ (init.headers ?? {});
    const body = init.body && path.startsWith('/oauth') === false ? JSON.parse(String(init.body)) : null;
    const request = { method: init.method ?? 'GET', path, key, body };
    page.sent.push(request);
    return page.answer(request);
  },
};
for (const [name, value] of Object.entries(browser)) {
  Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
}

/** Wait until a condition holds; the test fails after five seconds. */
export async function until(/** @type {() => unknown} */ condition) {
  for (const end = Date.now() + 5000; !(await condition()); ) {
    if (Date.now() > end) {
      throw new Error(`still not: ${condition}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

const { setTimeout: sleep } = globalThis;
// pauses between attempts to send must not keep the process of the tests
globalThis.setTimeout = /** @type {any} */ ((/** @type {() => void} */ then, /** @type {number} */ ms) => {
  const timer = sleep(then, ms);
  return ms < 1000 ? timer : timer.unref();
});

const state = await import('../../console/floor/state.js');
const { browser: used, session } = await import('../../console/core/app.js');
const words = await import('../../console/floor/words.js');
await words.loadWords();
used.wait = async () => undefined;

/** Open the floor as a new page of a device that has nothing yet, with somebody signed in. */
export async function openFloor() {
  globalThis.indexedDB = new IDBFactory();
  Object.assign(page, { sent: [], renewed: [], reloads: 0 });
  page.answer = () => answer(200, { data: { id: 1 } });
  page.tab.clear();
  loseLock = null;
  state.worker.value = null;
  state.isElsewhere.value = false;
  state.holdSession();
  await state.openFloor();
  await session.signIn('anna@acme', 'secret');
  const user = session.user.value;
  if (user === null) {
    throw new Error('nobody is signed in');
  }
  return user;
}

/**
 * Put a task on the device.
 *
 * @param {string} id
 * @param {Record<string, any>} shown what the service showed of it
 * @param {Partial<import('../../console/floor/store.js').Task>} [more]
 */
export async function keepTask(id, shown, more = {}) {
  const { owner } = state.parts();
  const goods = { products: [], positions: {} };
  const resources = { [id]: { id: Number(id.split('/')[1]), ...shown } };
  const task = { id, owner, resources, etags: {}, warehouse: 'CEN', changes: 0, goods, ...more };
  await state.store.database.put('tasks', task); // also in place of one that is there
  await state.reload();
  return task;
}

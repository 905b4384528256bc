/** A device of the floor and a service behind it, to which it sends. */

import '../../.local/node/node_modules/fake-indexeddb/auto/index.mjs';
import { Refusal } from '../../console/core/refusal.js';
import { Sender } from '../../console/floor/sender.js';
import { Store } from '../../console/floor/store.js';

/** Whose scans the device has. */
export const OWNER = 'acme/7';
export const HOUR = 3600 * 1000;

/** As of the database of a page that is closed. */
export class Killed extends DOMException {}

/** A service with two pickings: it knows a key for a day, and may lose answers. */
class FakeService {
  constructor() {
    this.time = 0;
    /** @type {Record<string, string[]>} path → texts that were picked */
    this.picked = { 'pickings/1': [], 'pickings/2': [] };
    /** @type {Map<string, {at: number, answer: unknown}>} */
    this.known = new Map();
    /** @type {(at: 'before' | 'after', key: string) => void} throws to lose a request or an answer */
    this.fault = () => undefined;
    /** @type {(body: any) => Refusal | null} */
    this.refuses = () => null;
    /** @type {string | null} of its answers */
    this.date = null;
  }

  /** @param {string} path */
  shown(path) {
    const texts = this.picked[path] ?? [];
    return { body: { data: { id: path, lines: [...texts] } }, etag: `"${texts.join()}"`, date: this.date };
  }

  /**
   * @param {string} _operation
   * @param {{key: string, parameters: any, body: any}} options
   */
  async write(_operation, { key, parameters, body }) {
    this.fault('before', key);
    const known = this.known.get(key);
    if (known && this.time - known.at < 24 * HOUR) {
      return known.answer;
    }
    const refusal = this.refuses(body);
    if (refusal) {
      throw refusal;
    }
    const path = `pickings/${parameters.id}`;
    this.picked[path]?.push(body.text);
    this.known.set(key, { at: this.time, answer: this.shown(path) });
    this.fault('after', key);
    return this.shown(path);
  }

  /**
   * @param {string} _operation
   * @param {{parameters?: any}} options
   */
  async read(_operation, { parameters = {} }) {
    this.fault('before', 'read');
    return this.shown(`pickings/${parameters.id}`);
  }
}

/** A device whose database lives longer than its pages. */
class Device {
  constructor() {
    globalThis.indexedDB = new IDBFactory();
    this.service = new FakeService();
    this.keys = 0;
    /** @type {() => void} throws to kill the page at a change of its database */
    this.fault = () => undefined;
    this.clock = { now: async () => this.service.time };
  }

  async store() {
    const store = await Store.open();
    const change = store.change.bind(store);
    store.change = async (...parts) => {
      this.fault();
      const changed = await change(...parts);
      this.fault();
      return changed;
    };
    return store;
  }

  /** @param {Store} store */
  sender(store) {
    const newKey = () => `key-${(this.keys += 1)}`;
    const calls = /** @type {any} */ (this.service);
    const clock = /** @type {any} */ (this.clock);
    return new Sender({ store, calls, clock, owner: OWNER, newKey });
  }
}

/**
 * @param {Store} store
 * @param {Sender} sender
 * @param {number} picking
 * @param {string} text
 */
export async function scan(store, sender, picking, text) {
  const request = {
    operation: 'POST /pickings/{id}/picks', parameters: { id: picking }, body: { text },
  };
  const task = `pickings/${picking}`;
  return store.add({ owner: OWNER, task, text, key: sender.newKey(), request, effect: null, undoes: null, isEnd: false });
}

/** @param {Store} store */
async function keepTasks(store) {
  for (const id of ['pickings/1', 'pickings/2']) {
    const etags = { [id]: '""' };
    const goods = { products: [], positions: {} };
    await store.keepTask({ id, owner: OWNER, resources: {}, etags, warehouse: null, changes: 0, goods });
  }
}

/** @param {string} code */
export const refusal = (code, status = 409) => new Refusal(status, code, 'No.');

export async function prepared() {
  const device = new Device();
  const store = await device.store();
  await keepTasks(store);
  return { device, store, sender: device.sender(store), service: device.service };
}

/** @param {Store} store */
export const statuses = async (store) => (await store.scans(OWNER)).map(({ text, status }) => [text, status]);

/** What a scan names: goods and positions that the device does not know. */

import { NoAnswer, Refusal } from '../core/refusal.js';
import { productOf } from './goods.js';

/**
 * @typedef {import('../core/calls.js').Calls} Calls
 * @typedef {import('../core/gs1.js').Scan} Read
 * @typedef {import('./goods.js').Goods} Goods
 */

/**
 * @typedef {Goods & {units: any[]}} Found `units` are handling units
 */

/** Milliseconds after which nobody waits any longer for what a scan names. */
const LONGEST = 4000;

/**
 * Ask the service what a scan names, while people can wait for it.
 *
 * @param {Calls} calls
 * @param {Read} read
 * @param {string | null} warehouse whose positions are meant; null for those of any
 * @returns {Promise<Found>}
 * @throws {NoAnswer | Refusal | import('../core/refusal.js').SessionEnded}
 */
export async function lookUp(calls, read, warehouse) {
  if (globalThis.navigator?.onLine === false) {
    throw new NoAnswer(null);
  }
  const late = AbortSignal.timeout(LONGEST);
  return Promise.race([
    found(calls, read, warehouse),
    new Promise((_, reject) => late.addEventListener('abort', () => reject(new NoAnswer(late.reason)))),
  ]);
}

/**
 * @param {Calls} calls
 * @param {Read} read
 * @param {string | null} warehouse
 * @returns {Promise<Found>}
 */
async function found(calls, read, warehouse) {
  const code = read.text;
  const [products, positions, units] = await Promise.all([
    productsOf(calls, read),
    code ? rows(calls, 'GET /warehouse-positions', { bin_code: code, warehouse }) : [],
    read.sscc ? rows(calls, 'GET /handling-units', { sscc: read.sscc }) : [],
  ]);
  const places = positions.map((/** @type {any} */ one) => [one.bin_code, one.pick_sequence]);
  return { products, positions: Object.fromEntries(places), units };
}

/**
 * Ask the service which products a scan may name.
 *
 * @param {Calls} calls
 * @param {Read} read
 */
export async function productsOf(calls, read) {
  const gtin = read.gtin ?? read.content;
  const code = read.text;
  const [byGtin, byBarcode, byCode] = await Promise.all([
    gtin ? rows(calls, 'GET /products', { gtin }) : [],
    code ? rows(calls, 'GET /products', { barcode: code }) : [],
    code ? rows(calls, 'GET /products', { item_code: code }) : [],
  ]);
  const named = new Map([...byGtin, ...byBarcode, ...byCode].map((row) => [row.id, row]));
  const packed = await Promise.all([...named.values()].map((row) => withGtins(calls, row)));
  return packed.map(productOf);
}

/**
 * @param {Calls} calls
 * @param {string} operation
 * @param {Record<string, string | null>} query
 * @returns {Promise<any[]>}
 */
async function rows(calls, operation, query) {
  try {
    const { body } = await calls.read(/** @type {any} */ (operation), { query: { ...query, per_page: 5 } });
    return /** @type {any} */ (body).data;
  } catch (error) {
    if (error instanceof Refusal && error.status === 422) {
      return []; // no code that anything could have
    }
    throw error;
  }
}

/**
 * @param {Calls} calls
 * @param {any} row a product
 */
async function withGtins(calls, row) {
  const { body } = await calls.read('GET /products/{id}/packaging', { parameters: { id: row.id } });
  return { ...row, gtins: /** @type {any} */ (body).data.gtins };
}

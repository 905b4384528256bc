/**
 * What is scanned into the field of a product: it fills the fields beside it, and the person goes on
 * in the next one.
 */

import { calls, say } from '../core/app.js';
import { isAdded, isUntouched, scannedParts, scannedQty } from '../core/scanned.js';
import { text } from '../core/words.js';
import { namedProduct, readLabel } from '../floor/goods.js';
import { productsOf } from '../floor/look_up.js';
import { goOn } from './keys.js';

/** @typedef {import('./fields.js').Draft} Draft */

/** Fields that name a product, of which one is enough. */
const NAMES = ['item_code', 'gtin'];

/**
 * @typedef {object} Scanned
 * @property {HTMLInputElement} input
 * @property {string} line of the input in which the cursor is
 * @property {string} name of its field
 * @property {string} path of its object in the body
 * @property {readonly {name: string}[]} fields of this object
 * @property {() => Draft} draftNow
 * @property {(changes: Draft) => void} fill
 */

/**
 * Take what stands in the field of a product. The batch and others are there at once; the code of the
 * product is that which the service knows, unless the person wrote something else meanwhile.
 *
 * @param {Scanned} scanned
 */
export async function takeScan({ input, name, path, fields, draftNow, fill }) {
  const written = input.value.trim();
  const read = readOf(written);
  if (read === null) {
    input.select();
    return;
  }
  const names = fields.map((field) => field.name);
  const before = draftNow();
  const parts = scannedParts(read, names, before);
  const code = codeOf(read, written);
  const isGtin = name === 'gtin'; // the service knows its product and what it counts
  fill({ ...parts, ...(isGtin ? scannedQty(read, read.units ?? 1, names) : {}), [name]: code });
  goOn(input, new Set([...Object.keys(parts), ...NAMES].map((part) => path + part)));
  const found = isGtin ? null : await productOf(read, code);
  const now = draftNow();
  if (found !== null && now[name] === code) {
    const qty = scannedQty(read, found.units, names);
    fill({ ...(isUntouched(qty, before, now) ? qty : {}), [name]: found.product.item_code });
  }
}

/**
 * Input of a batch → its last scan, which is the one that counts.
 *
 * @type {WeakMap<HTMLInputElement, Scan>}
 */
const lastScans = new WeakMap();

/**
 * Take what stands in the field of a batch, at a line whose product is known: an element string has the
 * batch and other parts of these goods. It is no batch itself: it leaves the field at once, so that the
 * next scan begins with an empty one.
 *
 * @param {Scanned} scanned
 */
export async function takeBatch({ input, name, path, fields, draftNow, fill }) {
  const written = input.value.trim();
  const read = readOf(written);
  const goOnFrom = (/** @type {Draft} */ filled) => {
    if (document.activeElement === input) {
      goOn(input, new Set(Object.keys(filled).map((part) => path + part)));
    }
  };
  if (read?.text !== undefined) {
    goOnFrom({});
    return;
  }
  const before = { ...draftNow(), [name]: '' };
  fill({ [name]: '' });
  if (read === null) {
    return;
  }
  if (read.batch === undefined) {
    say(`${written}: ${text('nothing_found')}`);
    return;
  }
  lastScans.set(input, read);
  const isNamed = read.gtin !== undefined;
  const found = isNamed ? await productOf(read, read.gtin ?? '') : null;
  const now = isNamed ? draftNow() : before;
  if (isNamed && found?.product.item_code !== now.item_code) {
    if (found) {
      say(text('other_product', { item_code: found.product.item_code }));
    }
    return;
  }
  const names = fields.map((field) => field.name);
  const isLast = lastScans.get(input) === read;
  const isOpen = (/** @type {Draft} */ parts) => isLast && isUntouched(parts, before, now);
  const qty = found ? scannedQty(read, found.units, names) : {};
  const own = Object.entries(scannedParts(read, names, now)).filter(([part, value]) => isAdded(part) || isOpen({ [part]: value }));
  const parts = { ...Object.fromEntries(own), ...(isOpen(qty) ? qty : {}) };
  fill(parts);
  if (isOpen({ [name]: '' })) {
    goOnFrom(parts); // unless the next scan is under way
  }
}

/**
 * Take a line of the field of several products: its product is named by the code.
 *
 * @param {Scanned} scanned
 */
export async function takeLine({ line, name, draftNow, fill }) {
  const written = line.trim();
  const read = written === '' ? null : readOf(written);
  const found = read && (await productOf(read, codeOf(read, written)));
  if (found) {
    const lines = String(draftNow()[name] ?? '').split('\n');
    fill({ [name]: lines.map((one) => (one.trim() === written ? found.product.item_code : one)).join('\n') });
  }
}

/** @typedef {import('../core/gs1.js').Scan} Scan */

/**
 * Read a scan, and say if it has a mistake.
 *
 * @param {string} written
 * @returns {Scan | null} null with a mistake
 */
function readOf(written) {
  const read = readLabel(written);
  if (read.problem !== undefined) {
    say(text('scan_refused', { scan: written }));
    return null;
  }
  return read;
}

/**
 * @param {Scan} read
 * @param {string} written
 */
function codeOf({ text: code, gtin, content }, written) {
  return code ?? gtin ?? content ?? written;
}

/**
 * Ask for the product that a scan names, and say if there is none.
 *
 * @param {Scan} read
 * @param {string} code
 */
async function productOf(read, code) {
  const found = namedProduct({ products: await productsOf(calls, read), positions: {} }, read);
  if (found === null) {
    say(`${code}: ${text('nothing_found')}`);
  }
  return found;
}

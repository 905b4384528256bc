/**
 * What is scanned into the field of a product: it fills the fields beside it, and the person goes on
 * in the next one.
 */

import { calls, say } from '../core/app.js';
import { scannedParts, scannedQty } from '../core/scanned.js';
import { text } from '../core/words.js';
import { namedProduct, readLabel } from '../floor/goods.js';
import { productsOf } from '../floor/look_up.js';
import { goOn } from './keys.js';

/** @typedef {import('./fields.js').Draft} Draft */

/** Fields that name a product, of which one is enough. */
const NAMES = ['item_code', 'gtin'];

/**
 * Take what stands in the field of a product. The batch and others are there at once; the code of the
 * product is that which the service knows, unless the person wrote something else meanwhile.
 *
 * @param {object} scan
 * @param {HTMLInputElement} scan.input
 * @param {string} scan.name of its field
 * @param {string} scan.path of its object in the body
 * @param {readonly {name: string}[]} scan.fields of this object
 * @param {() => Draft} scan.draftNow
 * @param {(changes: Draft) => void} scan.fill
 */
export async function takeScan({ input, name, path, fields, draftNow, fill }) {
  const written = input.value.trim();
  const read = readLabel(written);
  if (read.problem !== undefined) {
    say(text('scan_refused', { scan: written }));
    input.select();
    return;
  }
  const names = fields.map((field) => field.name);
  const gtin = read.gtin ?? read.content;
  const before = draftNow();
  const parts = scannedParts(read, names, before);
  const code = read.text ?? gtin ?? written;
  const isGtin = name === 'gtin'; // the service knows its product and what it counts
  fill({ ...parts, ...(isGtin ? scannedQty(read, read.units ?? 1, names) : {}), [name]: code });
  goOn(input, new Set([...Object.keys(parts), ...NAMES].map((part) => path + part)));
  if (isGtin) {
    return;
  }
  const products = await productsOf(calls, read);
  const found = namedProduct({ products, positions: {} }, read);
  const now = draftNow();
  if (now[name] !== code) {
    return;
  }
  if (found === null) {
    say(`${code}: ${text('nothing_found')}`);
    return;
  }
  const qty = scannedQty(read, found.units, names);
  const isUntouched = Object.keys(qty).every((one) => now[one] === before[one]);
  fill({ ...(isUntouched ? qty : {}), [name]: found.product.item_code });
}

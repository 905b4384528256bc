/** What the device knows of the goods and positions of a task, and what a scan names of them. */

import { readScan } from '../core/gs1.js';

/**
 * @typedef {import('../core/gs1.js').Scan} Read
 */

/**
 * @typedef {object} Product
 * @property {string} item_code
 * @property {string} name
 * @property {string | null} barcode
 * @property {{gtin: string, units: number}[]} gtins
 * @property {boolean} hasBatches
 * @property {boolean} hasSerials
 */

/**
 * @typedef {object} Goods
 * @property {Product[]} products
 * @property {Record<string, number | null>} positions code → place in the order of picking
 */

/** @type {Goods} */
export const NO_GOODS = { products: [], positions: {} };

/** Most digits of a quantity behind the point. */
const DECIMALS = 6;

/**
 * Return a number without the traces of binary fractions: 0.1 + 0.2 is 0.3.
 *
 * @param {number} value
 */
export const exact = (value) => Number(value.toFixed(DECIMALS));

/**
 * @param {string} text what somebody typed
 * @param {string} decimal what their language writes before decimals: a point or a comma
 * @returns {number | 'no_quantity' | 'unclear_quantity'} the quantity, or the words of what is wrong
 */
export function qtyOf(text, decimal) {
  const [, whole, sign, decimals] = /^(\d{1,9})(?:([.,])(\d{1,6}))?$/.exec(text.trim()) ?? [];
  if (whole === undefined) {
    return 'no_quantity';
  }
  // 1,000 is a thousand where people write decimals with a point, and one where they do not.
  const isUnclear = sign !== undefined && sign !== decimal && decimals?.length === 3 && Number(whole) > 0;
  return isUnclear ? 'unclear_quantity' : Number(`${whole}.${decimals ?? 0}`);
}

/**
 * @param {any} row a product as the goods of a task have it; those of lists lack its GTINs
 * @returns {Product}
 */
export function productOf(row) {
  return {
    item_code: row.item_code,
    name: row.name,
    barcode: row.barcode,
    gtins: row.gtins ?? [],
    hasBatches: row.man_btch_num,
    hasSerials: row.man_ser_num,
  };
}

/** The digits of a plain GTIN, perhaps behind the name of its symbology. */
const DIGITS = /^(?:\][A-Za-z]\d)?(\d{8,14})$/;

/**
 * Read a scan. Digits that may be a GTIN may also be a code, a batch or a serial number of one's own:
 * they are also the text.
 *
 * @param {string} text
 * @param {Date} [today] of the service: years on labels have two digits
 * @returns {Read}
 */
export function readLabel(text, today) {
  const read = readScan(text, today);
  const [, digits] = DIGITS.exec(text.trim()) ?? [];
  return read.gtin !== undefined && digits !== undefined ? { ...read, text: digits } : read;
}

/** @param {string} gtin of 8 to 14 digits */
const gtin14 = (gtin) => gtin.padStart(14, '0');

/**
 * @param {Goods} goods
 * @param {Read} read
 * @returns {{product: Product, units: number} | null} the product that a scan names, and how many
 *   units of it are in what was scanned
 */
export function namedProduct({ products }, read) {
  const gtin = read.gtin ?? read.content;
  if (gtin !== undefined) {
    for (const product of products) {
      const packed = product.gtins.find((one) => gtin14(one.gtin) === gtin);
      if (packed || (product.barcode !== null && gtin14(product.barcode) === gtin)) {
        return { product, units: exact((packed?.units ?? 1) * (read.units ?? 1)) };
      }
    }
  }
  const text = read.text?.toUpperCase();
  const product = products.find(({ item_code, barcode }) => {
    return text !== undefined && [item_code, barcode].some((code) => code?.toUpperCase() === text);
  });
  return product ? { product, units: 1 } : null;
}

/**
 * @param {Goods} goods
 * @param {Read} read
 * @returns {string | null} code of the position that a scan names
 */
export function namedPosition({ positions }, read) {
  const text = read.text?.toUpperCase();
  return Object.keys(positions).find((code) => code.toUpperCase() === text) ?? null;
}

/**
 * @param {Goods} one
 * @param {Goods} other of which what both know is taken
 * @returns {Goods}
 */
export function joined(one, other) {
  const products = [...one.products, ...other.products];
  const byCode = new Map(products.map((product) => [product.item_code, product]));
  return { products: [...byCode.values()], positions: { ...one.positions, ...other.positions } };
}

/**
 * Goods that a person names by a GTIN, or counts in a unit of measure.
 */

import { exact } from './exact.js';

/**
 * Return goods by the code of their product, counted in its own units; as they are if the service does
 * not know the GTIN or the unit.
 *
 * @param {Pick<import('./calls.js').Calls, 'read'>} calls
 * @param {Record<string, any>} goods
 * @returns {Promise<Record<string, any>>}
 * @throws {import('./refusal.js').Refusal | import('./refusal.js').NoAnswer}
 */
export async function inBaseUnits(calls, goods) {
  const { item_code: code, gtin, unit, qty } = goods;
  const query = gtin ? { gtin } : { item_code: code };
  const [product] = (await calls.read('GET /products', { query })).body.data;
  if (product === undefined || typeof qty !== 'number') {
    return goods;
  }
  const { body } = await calls.read('GET /products/{id}/packaging', { parameters: { id: product.id } });
  const { gtins, units } = body.data;
  const counted = unit
    ? units.find((one) => one.unit.toUpperCase() === String(unit).toUpperCase())?.qty
    : (gtins.find((one) => gtin14(one.gtin) === gtin14(gtin))?.units ?? 1);
  return counted === undefined ? goods : { item_code: product.item_code, qty: exact(qty * counted) };
}

/** @param {string | undefined} gtin */
function gtin14(gtin = '') {
  return gtin.padStart(14, '0');
}

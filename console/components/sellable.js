/**
 * What can be sold of the goods of an order, beside what is ordered.
 */

import { calls } from '../core/app.js';
import { useLoaded } from '../core/use.js';
import { fieldLabel } from '../core/words.js';
import { useEffect, useState } from '../vendor/hooks.js';
import { h } from '../vendor/preact.js';
import { Table } from './table.js';
import { plain } from './value.js';

const SELLABLE = /** @type {const} */ ({ name: 'sellable', type: 'number' });

/** Products of an order from which on its table does not ask for the level of each. */
const MOST = 20;

/** Milliseconds without a key before the level is asked. */
const PAUSE = 250;

/**
 * The lines of an order, with what can be sold beside those that are open.
 *
 * @param {Omit<Parameters<typeof Table>[0], 'rows'> & {rows: readonly Record<string, any>[]}} props
 */
export function Lines({ columns, rows, ...props }) {
  const asked = new Map(
    rows
      .filter(({ status }) => status === 'open' || status === 'partial')
      .map(({ item_code, whs_code }) => [keyOf(item_code, whs_code), { item_code, whs_code }]),
  );
  const isAsked = asked.size > 0 && asked.size <= MOST;
  const { result } = useLoaded(`sellable ${isAsked && [...asked.keys()].join()}`, async (signal) => {
    if (!isAsked) {
      return null;
    }
    const found = [...asked].map(async ([one, { item_code, whs_code }]) =>
      /** @type {const} */ ([one, await sellableOf(item_code, whs_code, signal)]),
    );
    return new Map(await Promise.all(found));
  });
  if (!result) {
    return h(Table, { ...props, columns, rows });
  }
  const at = columns.findIndex(({ name }) => name === 'qty') + 1;
  return h(Table, {
    ...props,
    columns: [...columns.slice(0, at), SELLABLE, ...columns.slice(at)],
    rows: rows.map((row) => ({ ...row, sellable: result.get(keyOf(row.item_code, row.whs_code)) })),
  });
}

/**
 * A note at a line of a form: what can be sold of its product.
 *
 * @param {object} props
 * @param {string} props.itemCode as a person writes it
 * @param {string} props.warehouse
 */
export function SellableNote({ itemCode, warehouse }) {
  const [written, setWritten] = useState({ itemCode, warehouse });
  useEffect(() => {
    const timer = setTimeout(() => setWritten({ itemCode, warehouse }), PAUSE);
    return () => clearTimeout(timer);
  }, [itemCode, warehouse]);
  const key = keyOf(written.itemCode, written.warehouse);
  const { result } = useLoaded(`sellable ${key}`, async (signal) => ({
    key,
    qty: await sellableOf(written.itemCode, written.warehouse, signal),
  }));
  const qty = result?.key === keyOf(itemCode, warehouse) ? result.qty : null; // not that of another product
  return qty !== null && h('p', { class: 'quiet' }, `${fieldLabel('sellable')}: ${plain(SELLABLE, qty)}`);
}

/**
 * @param {string} itemCode
 * @param {string} warehouse code
 */
function keyOf(itemCode, warehouse) {
  return JSON.stringify([itemCode, warehouse]);
}

/**
 * Return what can be sold; null without a level.
 *
 * @param {string} itemCode
 * @param {string} warehouse code
 * @param {AbortSignal} signal
 * @returns {Promise<number | null>}
 */
async function sellableOf(itemCode, warehouse, signal) {
  if (!itemCode.trim() || !warehouse.trim()) {
    return null;
  }
  const query = { item_code: itemCode.trim(), warehouse: warehouse.trim(), per_page: 1 };
  const { body } = await calls.read('GET /stock-levels', { query, signal });
  return body.data[0]?.sellable ?? null;
}

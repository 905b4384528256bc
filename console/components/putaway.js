/**
 * Positions where goods can be put, as the service suggests them, or where a picking has them.
 */

import { calls } from '../core/app.js';
import { exact } from '../core/exact.js';
import { useLoaded } from '../core/use.js';
import { text, valueLabel } from '../core/words.js';
import { plain } from './value.js';

/**
 * @typedef {import('../core/subject.js').Field} Field
 * @typedef {import('../core/actions.js').Resource} Resource
 */

/** The field that names the position where goods go. */
const PLACE = 'bin_code';

const QTY = /** @type {const} */ ({ name: 'qty', type: 'number' });

/**
 * Ask once for the positions of goods. Without an answer there are none: a form works without them.
 *
 * @param {import('../core/actions.js').Action} action
 * @param {Resource} resource
 * @param {Resource} values with which the form begins
 * @param {Resource} goods of a line: `item_code`, `qty` and perhaps `batch`
 * @returns {NonNullable<Field['suggested']>}
 */
export function usePlaces({ putsAway, takes }, resource, values, goods) {
  const { result } = useLoaded('places', async (signal) => {
    const warehouse = putsAway?.(resource, values);
    if (goods.item_code === undefined) {
      return [];
    }
    if (takes !== undefined && resource.picking_id != null) {
      const { body } = await calls.read('GET /pickings/{id}', { parameters: { id: resource.picking_id }, signal });
      return placesOf(body.data.lines, goods, takes);
    }
    return warehouse === undefined ? [] : freePlaces(warehouse, goods, signal);
  });
  return result ?? [];
}

/**
 * @param {string} warehouse code
 * @param {Resource} goods
 * @param {AbortSignal} signal
 */
async function freePlaces(warehouse, { item_code, qty, batch }, signal) {
  const query = { warehouse, item_code, qty, batch: batch ?? undefined };
  const { body } = await calls.read('GET /putaway-suggestions', { query, signal });
  return body.data.map(({ bin_code, reason, qty: fits }) => ({
    label: text('place', { position: bin_code, reason: valueLabel(reason), qty: plain(QTY, fits) }),
    fills: { [PLACE]: bin_code },
  }));
}

/**
 * Return the positions of goods by the lines of a picking, each position and batch once.
 *
 * @param {readonly Resource[]} lines
 * @param {Resource} goods
 * @param {(line: Resource) => number} qtyOf
 * @returns {NonNullable<Field['suggested']>}
 */
export function placesOf(lines, { item_code: code }, qtyOf) {
  /** @type {Map<string, {place: string, batch: string | null, qty: number}>} */
  const places = new Map();
  for (const line of lines.filter(({ item_code, bin_code }) => item_code === code && bin_code !== null)) {
    const { bin_code: place, batch_num: batch } = line;
    const key = JSON.stringify([place, batch]);
    const before = places.get(key)?.qty ?? 0; // of another line
    places.set(key, { place, batch, qty: exact(before + qtyOf(line)) });
  }
  return [...places.values()]
    .filter(({ qty }) => qty > 0)
    .map(({ place, batch, qty }) => ({
      label: [place, batch, plain(QTY, qty)].filter(Boolean).join(' · '),
      fills: { [PLACE]: place, ...(batch ? { batch } : {}) },
    }));
}

/**
 * Return the fields of a form, of which those that name a position suggest places.
 *
 * @template {Omit<Field, 'name'> & {name?: string}} Some
 * @param {readonly Some[]} fields
 * @param {NonNullable<Field['suggested']>} places
 * @returns {Some[]}
 */
export function withPlaces(fields, places) {
  return fields.map((field) => {
    if (places.length > 0 && field.name === PLACE) {
      return { ...field, suggested: places };
    }
    const { items } = field;
    return items?.fields ? { ...field, items: { ...items, fields: withPlaces(items.fields, places) } } : field;
  });
}

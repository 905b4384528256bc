/**
 * Positions where goods can be put, as the service suggests them.
 */

import { calls } from '../core/app.js';
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
 * Ask once for the positions where goods can be put. Without an answer there are none: a form works
 * without them.
 *
 * @param {string | undefined} warehouse code; undefined if nothing is put away
 * @param {Resource} goods of a line: `item_code`, `qty` and perhaps `batch`
 * @returns {NonNullable<Field['suggested']>}
 */
export function usePlaces(warehouse, { item_code, qty, batch }) {
  const isAsked = warehouse !== undefined && item_code !== undefined;
  const { result } = useLoaded('places', async (signal) => {
    if (!isAsked) {
      return [];
    }
    const query = { warehouse, item_code, qty, batch: batch ?? undefined };
    const { body } = await calls.read('GET /putaway-suggestions', { query, signal });
    return body.data.map(({ bin_code: value, reason, qty: fits }) => ({
      value,
      label: text('place', { position: value, reason: valueLabel(reason), qty: plain(QTY, fits) }),
    }));
  });
  return result ?? [];
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

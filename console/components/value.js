/**
 * A value of the interface as text for people.
 */

import { locale } from '../core/app.js';
import { formatDate, formatInstant, formatNumber } from '../core/format.js';
import { text, valueLabel } from '../core/words.js';

/** @typedef {import('../core/subject.js').Field} Field */

/** Fields that name an object for people, the first that there is. */
const NAMES = ['doc_num', 'bin_code', 'name', 'whs_code', 'item_code', 'external_ref', 'id'];

/** Names of integers that count nothing. */
const IDS = /(^|_)ids?$|^line_num$|^version$/;

/**
 * Return a value as text.
 *
 * @param {Omit<Field, 'name'> & {name?: string}} field
 * @param {unknown} value
 * @returns {string}
 */
export function plain(field, value) {
  if (value === null || value === undefined) {
    return '';
  }
  if (field.name === 'priority') {
    return valueLabel(value);
  }
  switch (field.type) {
    case 'boolean':
      return text(value ? 'yes' : 'no');
    case 'integer':
    case 'number':
      return IDS.test(field.name ?? '') ? String(value) : formatNumber(Number(value), locale.value);
    case 'date':
      return formatDate(String(value), locale.value);
    case 'date-time':
      return formatInstant(String(value), locale.value);
    case 'choice':
      return valueLabel(value, field.name);
    case 'array':
      return listText(field, /** @type {readonly unknown[]} */ (value));
    case 'texts':
      return Object.entries(/** @type {Record<string, string>} */ (value))
        .map(([name, one]) => `${name}: ${one}`)
        .join(', ');
    case 'object':
      if (field.name === 'progress') {
        return progressText(/** @type {Record<string, number>} */ (value));
      }
      return nameOf(/** @type {Record<string, unknown>} */ (value));
    default:
      return String(value);
  }
}

/**
 * @param {Omit<Field, 'name'> & {name?: string}} field
 * @param {readonly unknown[]} values
 */
function listText(field, values) {
  const { items } = field;
  if (field.name === 'fills') {
    return values.map((fill) => fillText(/** @type {Record<string, unknown>} */ (fill))).join(', ');
  }
  if (items === undefined || items.type === 'object') {
    return text('items', { count: values.length });
  }
  return values.map((value) => plain({ ...items, name: field.name ?? '' }, value)).join(', ');
}

/**
 * Return a line of a document that goods fulfil: id of the document, reference or number, quantity.
 *
 * @param {Record<string, unknown>} fill
 */
function fillText({ document_id, line_num, external_ref, qty }) {
  return `${document_id} · ${external_ref ?? line_num}: ${formatNumber(Number(qty), locale.value)}`;
}

/**
 * Return how many of how many lines are counted.
 *
 * @param {Record<string, number>} progress of a count
 */
function progressText({ counted = 0, lines = 0 }) {
  return `${formatNumber(counted, locale.value)} / ${formatNumber(lines, locale.value)}`;
}

/**
 * Return the name of an object for people.
 *
 * @param {Record<string, unknown>} value
 */
export function nameOf(value) {
  const kind = value.object ?? value.type;
  if (kind !== undefined && value.id !== undefined && value.name === undefined) {
    return String(value.doc_num ?? value.external_ref ?? [valueLabel(kind), value.id ?? []].flat().join(' '));
  }
  const name = NAMES.find((one) => value[one] !== null && value[one] !== undefined);
  return name === undefined ? '' : String(value[name]);
}

/** What people read of tasks and movements. */

import { locale } from '../core/app.js';
import { subjectLabel } from '../core/words.js';
import { tasks } from './state.js';
import { MOVES } from './kinds.js';
import { say } from './words.js';

/** @param {number} value */
export const numberText = (value) =>
  new Intl.NumberFormat(locale.value.language, { maximumFractionDigits: 6 }).format(value);

/**
 * @param {string} value a day, or an instant
 * @returns {string} the day; that of an instant is that of the company
 */
export function dayText(value) {
  const { language, timeZone } = locale.value;
  const isDay = value.length === 10;
  const format = { dateStyle: /** @type {const} */ ('short'), timeZone: isDay ? 'UTC' : timeZone };
  return new Intl.DateTimeFormat(language, format).format(new Date(value));
}

/** @returns {string} what the language of the person writes before decimals */
export function decimalSign() {
  const parts = new Intl.NumberFormat(locale.value.language).formatToParts(0.5);
  return parts.find(({ type }) => type === 'decimal')?.value ?? '.';
}

/**
 * @param {string} id of a task
 * @returns {string} such as "Pickings PKG-12"
 */
export function taskName(id) {
  const [kind = '', number = ''] = id.split('/');
  if (kind === MOVES) {
    return say('move_in', { warehouse: number });
  }
  const task = tasks.value.find((one) => one.id === id);
  return `${subjectLabel(kind)} ${task?.resources[id]?.code ?? number}`;
}

/**
 * @param {import('./steps.js').Entry} entry
 * @returns {string} such as "12 × BRICK, A-01, L-7"
 */
export function entryText({ product, qty, batch, serial, position, target, unit, isEmpty }) {
  if (isEmpty) {
    return say('empty_at', { position: position ?? '' });
  }
  const way = [position, target].filter(Boolean).join(' → ');
  const goods = product && `${numberText(qty ?? 1)} × ${product.item_code}`;
  return [goods, way, unit, batch, serial].filter(Boolean).join(', ');
}

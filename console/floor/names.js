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

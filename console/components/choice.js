/**
 * The choice of rows of a table.
 */

import { text } from '../core/words.js';
import { h } from '../vendor/preact.js';

/**
 * @typedef {Record<string, any>} Row
 *
 * @typedef {object} Choice
 * @property {import('../vendor/signals-core.js').Signal<ReadonlySet<unknown>>} chosen ids
 * @property {(row: Row) => unknown} idOf undefined if the row cannot be chosen
 * @property {(row: Row) => string} nameOf
 */

/**
 * Return what a table shows at the beginning of its head and of each row.
 *
 * @param {Choice} choice
 */
export function choiceOf(choice) {
  return {
    /** @param {Row} row */
    ofRow: (row) => h(ChoiceOfRow, { choice, row }),
    /** @param {readonly Row[]} rows */
    ofAll: (rows) => h(ChoiceOfAll, { choice, rows }),
  };
}

/**
 * @param {object} props
 * @param {Choice} props.choice
 * @param {Row} props.row
 */
function ChoiceOfRow({ choice: { chosen, idOf, nameOf }, row }) {
  const id = idOf(row);
  const isChosen = chosen.value.has(id);
  return (
    id !== undefined &&
    h('input', {
      type: 'checkbox',
      'aria-label': text('choose_row', { name: nameOf(row) }),
      checked: isChosen,
      onChange: () => {
        const others = [...chosen.value].filter((one) => one !== id);
        chosen.value = new Set(isChosen ? others : [...others, id]);
      },
    })
  );
}

/**
 * @param {object} props
 * @param {Choice} props.choice
 * @param {readonly Row[]} props.rows
 */
function ChoiceOfAll({ choice: { chosen, idOf }, rows }) {
  const ids = rows.map(idOf).filter((id) => id !== undefined);
  const count = ids.filter((id) => chosen.value.has(id)).length;
  const isAll = count > 0 && count === ids.length;
  return (
    ids.length > 0 &&
    h('input', {
      type: 'checkbox',
      'aria-label': text('choose_all'),
      checked: isAll,
      indeterminate: count > 0 && !isAll,
      onChange: () => {
        chosen.value = new Set(isAll ? [] : ids);
      },
    })
  );
}

/**
 * Values to choose from below an input: a click fills it in, and what belongs to the value.
 */

import { h } from '../vendor/preact.js';

/**
 * @param {object} props
 * @param {NonNullable<import('../core/subject.js').Field['suggested']>} props.suggested
 * @param {(fills: import('./fields.js').Draft) => void} props.onChoose
 */
export function Suggested({ suggested, onChoose }) {
  return h(
    'div',
    { class: 'suggested' },
    suggested.map(({ label, fills }) =>
      h('button', { key: label, type: 'button', onClick: () => onChoose(fills) }, label),
    ),
  );
}

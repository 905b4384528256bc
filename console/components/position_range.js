/**
 * Adds the positions of a range to a list of positions.
 */

import { calls } from '../core/app.js';
import { sharedStart } from '../core/plan.js';
import { text } from '../core/words.js';
import { useState } from '../vendor/hooks.js';
import { h } from '../vendor/preact.js';
import { Fields } from './fields.js';
import { Notice } from './notice.js';

/** @typedef {import('./fields.js').Draft} Draft */

const ENDS = /** @type {const} */ ([
  { name: 'from', type: 'text' },
  { name: 'to', type: 'text' },
]);

/** Pages that are read for one range, and positions of each. */
const PAGES = 20;
const PER_PAGE = 100;

/**
 * @param {import('./fields.js').InputProps} props
 */
export function PositionRange({ entry, onChange, draft = {} }) {
  const [ends, setEnds] = useState(/** @type {Draft} */ ({}));
  const [state, setState] = useState({ isBusy: false, error: /** @type {unknown} */ (null), message: '' });
  const warehouse = String(draft.warehouse_code ?? '').trim();
  const [first, last] = ENDS.map(({ name }) => String(ends[name] ?? '').trim());
  const add = async () => {
    setState({ isBusy: true, error: null, message: '' });
    try {
      const found = await positionsBetween(warehouse, first ?? '', last ?? '');
      if (found === null) {
        setState({ isBusy: false, error: null, message: text('range_too_wide', { count: PAGES * PER_PAGE }) });
        return;
      }
      const before = String(entry ?? '').split('\n').filter(Boolean);
      onChange([...new Set([...before, ...found])].join('\n'));
      setState({ isBusy: false, error: null, message: text('found_positions', { count: found.length }) });
    } catch (error) {
      setState({ isBusy: false, error, message: '' });
    }
  };
  return h('fieldset', { class: 'row' }, [
    h('legend', {}, text('position_range')),
    h(Fields, { fields: ENDS, draft: ends, onChange: setEnds, problems: [] }),
    h('button', { type: 'button', disabled: state.isBusy || !warehouse || !first || !last, onClick: add }, text('add_range')),
    h('p', { class: 'quiet', role: 'status' }, state.message),
    h(Notice, { error: state.error }),
  ]);
}

/**
 * Return the codes of the positions of a warehouse from one to another one, with numbers in their
 * order: A-9 is before A-10. Null if too many begin alike.
 *
 * @param {string} warehouse code
 * @param {string} first
 * @param {string} last
 */
async function positionsBetween(warehouse, first, last) {
  const { compare } = new Intl.Collator('en', { numeric: true });
  const search = sharedStart(first, last);
  /** @type {string[]} */
  const found = [];
  for (let page = 1, end = 1; page <= end; page++) {
    const query = { warehouse, search, sort: 'bin_code', per_page: PER_PAGE, page };
    const { body } = await calls.read('GET /warehouse-positions', { query });
    found.push(...body.data.map(({ bin_code: code }) => code));
    end = body.meta.last_page;
    if (end > PAGES) {
      return null;
    }
  }
  return found.filter((code) => compare(first, code) <= 0 && compare(code, last) <= 0).sort(compare);
}

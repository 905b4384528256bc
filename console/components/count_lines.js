/**
 * The lines of a count: all, those to count, or those that differ, with what moved since.
 */

import { calls } from '../core/app.js';
import { useLoaded } from '../core/use.js';
import { text } from '../core/words.js';
import { useState } from '../vendor/hooks.js';
import { h } from '../vendor/preact.js';
import { Table } from './table.js';

/**
 * @typedef {import('../core/actions.js').Resource} Resource
 * @typedef {Parameters<typeof Table>[0]} TableProps
 */

/** Lines that are shown at once: a count may have 5,000. */
const SHOWN = 200;

/** Differences up to which the table asks for the stock of each. */
const MOST = 20;

/** @type {Readonly<Record<'all_lines' | 'lines_to_count' | 'lines_that_differ', (line: Resource) => boolean>>} */
const CHOICES = {
  all_lines: () => true,
  lines_to_count: ({ status }) => status !== 'counted',
  lines_that_differ: ({ difference }) => Boolean(difference),
};

/**
 * @param {Omit<TableProps, 'rows'> & {rows: readonly Resource[], resource: Resource}} props
 */
export function Lines({ columns, rows, resource, ...props }) {
  const isDecided = resource.status === 'counted' && rows.some(CHOICES.lines_that_differ);
  const [chosen, setChosen] = useState(/** @type {keyof typeof CHOICES | null} */ (null));
  const choice = chosen ?? (isDecided ? 'lines_that_differ' : 'all_lines');
  const found = rows.filter(CHOICES[choice]);
  const due = found.filter(({ difference, movement_id: posted }) => difference && posted === null);
  const isAsked = choice === 'lines_that_differ' && due.length > 0 && due.length <= MOST;
  const key = isAsked && due.map(({ line_num: number, counted_at: at }) => [number, at]);
  const { result } = useLoaded(`moved ${resource.id} ${JSON.stringify(key)}`, async (signal) => {
    if (!isAsked) {
      return null;
    }
    const asked = due.map(async (line) =>
      /** @type {const} */ ([line.line_num, await movedSince(resource.warehouse_code, line, signal)]),
    );
    return new Map(await Promise.all(asked));
  });
  /** @type {(typeof columns)[number]} */
  const moved = { name: 'moved_since', type: 'number', label: text('moved_since') };
  const used = columns.filter(({ name }) => rows.some((line) => line[name] !== null));
  const at = used.findIndex(({ name }) => name === 'difference') + 1;
  return h('div', {}, [
    h('div', { class: 'tools' }, [
      ...Object.entries(CHOICES).map(([name, isOne]) =>
        h(
          'button',
          {
            key: name,
            type: 'button',
            'aria-pressed': name === choice,
            onClick: () => setChosen(/** @type {keyof typeof CHOICES} */ (name)),
          },
          text(/** @type {keyof typeof CHOICES} */ (name), { count: rows.filter(isOne).length }),
        ),
      ),
    ]),
    found.length > SHOWN && h('p', { class: 'quiet' }, text('lines_shown', { count: SHOWN })),
    h(Table, {
      ...props,
      columns: result === null ? used : [...used.slice(0, at), moved, ...used.slice(at)],
      rows: found
        .slice(0, SHOWN)
        .map((line) => (result === null ? line : { ...line, moved_since: result.get(line.line_num) })),
    }),
  ]);
}

/**
 * Return how much more of the stock of a line is there now than when it was counted.
 *
 * @param {string} warehouse code
 * @param {Resource} line
 * @param {AbortSignal} signal
 */
async function movedSince(warehouse, line, signal) {
  const { item_code, bin_code, inventory_status, batch_num, serial_number, expected_qty } = line;
  const goods = { item_code, batch: batch_num, serial: serial_number };
  const query = { warehouse, bin_code, inventory_status, ...goods, per_page: 100 };
  const { body } = await calls.read('GET /stocks', { query, signal });
  const stock = body.data.find(
    (one) => one.batch_num === batch_num && one.serial_number === serial_number,
  );
  return (stock?.qty ?? 0) - expected_qty;
}

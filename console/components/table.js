/**
 * A table of rows, with sort orders in its head where the list has them.
 */

import { locale } from '../core/app.js';
import { codeOf } from '../core/codes.js';
import { formatNumber } from '../core/format.js';
import { linkInRow } from '../core/links.js';
import { userNames } from '../core/names.js';
import { useLoaded } from '../core/use.js';
import { fieldLabel, text } from '../core/words.js';
import { useEffect, useMemo, useState } from '../vendor/hooks.js';
import { h } from '../vendor/preact.js';
import { Value } from './parts.js';

/**
 * @typedef {import('../core/subject.js').Field & {label?: string}} Field `label`: instead of its words
 * @typedef {Record<string, unknown>} Row
 */

/** Characters of a code, a reference or a time, which are not broken into lines. */
const LONGEST_LINE = 24;

/** Columns that are in sight on a narrow screen, and what such a screen is. */
const IMPORTANT = /(^|_)(status|qty)$/;
const NARROW = '(max-width: 64rem)';

/** Columns that are shown beside the quantity: the unit and the quantity that were sent. */
const BESIDE_QUANTITY = new Set(['unit', 'unit_qty']);

/**
 * @param {object} props
 * @param {string} props.caption
 * @param {readonly Field[]} props.columns
 * @param {readonly Row[]} props.rows
 * @param {readonly string[]} [props.sorts] columns that the list can be sorted by
 * @param {string} [props.sort] the present order, such as `-created_at`
 * @param {(sort: string) => void} [props.onSort]
 * @param {(field: Field, row: Row) => string | undefined} [props.linkOf] address of a cell's link
 * @param {boolean} [props.isLoading]
 * @param {(row: Row) => any[]} [props.buttonsOf] returns the buttons of a row
 * @param {ReturnType<typeof import('./choice.js').choiceOf>} [props.choice] of rows
 */
export function Table({
  caption,
  columns: all,
  rows,
  sorts = [],
  sort,
  onSort,
  linkOf = ({ name }, row) => linkInRow(name, row),
  isLoading,
  buttonsOf,
  choice,
}) {
  const isOfOrder = all.some(({ name }) => name === 'unit_qty');
  const known = isOfOrder ? all.filter(({ name }) => !BESIDE_QUANTITY.has(name)) : all;
  const columns = useNarrow() ? importantFirst(known) : known;
  const shown = columns.map(({ name }) => name).join();
  const users = useUsers(columns, rows);
  // not made again while the next page is loaded
  const lines = useMemo(
    () =>
      rows.map((row, index) =>
        h(
          'tr',
          { key: String(row.id ?? index) },
          [
            choice && h('td', { key: '-', class: 'choice' }, choice.ofRow(row)),
            ...columns.map((field) => cell(field, row, linkOf, users)),
            buttonsOf && h('td', { key: '', class: 'row-actions' }, buttonsOf(row)),
          ],
        ),
      ),
    [rows, shown, locale.value, users],
  );
  return h('div', { class: 'table', tabIndex: 0, role: 'region', 'aria-label': caption }, [
    h('table', { 'aria-busy': isLoading === true }, [
      h('caption', { class: 'hidden' }, caption),
      h('thead', {}, [
        h(
          'tr',
          {},
          [choice && h('td', { key: '-', class: 'choice' }, choice.ofAll(rows)), ...columns.map((field) =>
            sorts.includes(field.name) && onSort !== undefined
              ? h(SortedHead, { key: field.name, field, sort, onSort })
              : h('th', { key: field.name, scope: 'col', class: numeric(field) }, labelOf(field)),
          ), buttonsOf && h('td', { key: '' })],
        ),
      ]),
      h('tbody', {}, lines),
    ]),
  ]);
}

const USER = 'user_id';

/**
 * Use the names of the users that a column has the ids of; none before they are read.
 *
 * @param {readonly Field[]} columns
 * @param {readonly Row[]} rows
 */
function useUsers(columns, rows) {
  const ids = columns.some(({ name }) => name === USER) ? [...new Set(rows.map((row) => row[USER]))] : [];
  const { result } = useLoaded(`users ${ids}`, () => userNames(ids));
  return ids.length > 0 ? result : null; // a table without such a column is not made again
}

/** Whether the screen is that of a tablet, or narrower. */
function useNarrow() {
  const query = useMemo(() => matchMedia(NARROW), []);
  const [isNarrow, setNarrow] = useState(query.matches);
  useEffect(() => {
    const look = () => setNarrow(query.matches);
    query.addEventListener('change', look);
    return () => query.removeEventListener('change', look);
  }, []);
  return isNarrow;
}

/**
 * Return the column that names the row, which is the first one, or the product of a numbered line; then
 * status and quantity, then the others.
 *
 * @param {readonly Field[]} columns
 */
export function importantFirst(columns) {
  const named = columns[0]?.name === 'line_num' ? columns.find(({ name }) => name === 'item_code') : undefined;
  const first = named ?? columns[0];
  const place = (/** @type {Field} */ field) => (field === first ? 0 : IMPORTANT.test(field.name) ? 1 : 2);
  return [...columns].sort((one, other) => place(one) - place(other));
}

/**
 * @param {object} props
 * @param {Field} props.field
 * @param {string | undefined} props.sort
 * @param {(sort: string) => void} props.onSort
 */
function SortedHead({ field, sort, onSort }) {
  const { name } = field;
  const isUp = sort === name;
  const isDown = sort === `-${name}`;
  const order = isUp ? 'ascending' : isDown ? 'descending' : 'none';
  return h('th', { scope: 'col', class: numeric(field), 'aria-sort': order }, [
    h(
      'button',
      { type: 'button', class: 'plain', onClick: () => onSort(isUp ? `-${name}` : name) },
      [
        labelOf(field),
        h('span', { 'aria-hidden': true }, isUp ? ' ▲' : isDown ? ' ▼' : ' ↕'),
        isUp && h('span', { class: 'hidden' }, ` ${text('sorted_ascending')}`),
        isDown && h('span', { class: 'hidden' }, ` ${text('sorted_descending')}`),
      ],
    ),
  ]);
}

/**
 * Return a cell. It is no component of its own: those of a page would take most of its time.
 *
 * @param {Field} field
 * @param {Row} row
 * @param {(field: Field, row: Row) => string | undefined} linkOf
 * @param {ReadonlyMap<string, string> | null} users
 */
function cell(field, row, linkOf, users) {
  const link = linkOf(field, row);
  const raw = row[field.name];
  const name = codeOf(field.name, raw) ?? (field.name === USER ? users?.get(String(raw)) : undefined);
  const isShort = typeof raw === 'string' ? raw.length <= LONGEST_LINE : !Array.isArray(raw);
  const value = [name ?? Value({ field, value: raw }), field.name === 'qty' && inUnit(row)];
  return h('td', { key: field.name, class: numeric(field) ?? (isShort ? 'short' : undefined) }, [
    link === undefined ? value : h('a', { href: link }, value),
  ]);
}

/**
 * Return the quantity in the unit in which it was ordered, such as " (2 BOX)".
 *
 * @param {Row} row
 */
function inUnit({ unit, unit_qty: qty }) {
  return typeof unit === 'string' && typeof qty === 'number' && ` (${formatNumber(qty, locale.value)} ${unit})`;
}

/** @param {Field} field */
function labelOf({ name, label }) {
  return label ?? fieldLabel(name);
}

/**
 * Return the class of the cells of a column of numbers.
 *
 * @param {Field} field
 */
function numeric({ type }) {
  return type === 'number' || type === 'integer' ? 'number' : undefined;
}

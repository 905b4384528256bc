/** The tasks that the service has: pages of their lists, and those that a scan names. */

import { Refusal } from '../core/refusal.js';
import { KINDS } from './kinds.js';

/**
 * @typedef {import('../core/calls.js').Calls} Calls
 * @typedef {import('./kinds.js').TaskKind} TaskKind
 */

/** Rows of a page. */
const PAGE = 100;

/** Refusals of a list that has nothing: its module is switched off, or no code is searched like that. */
const NONE = ['transfer_orders_disabled', 'validation_failed'];

/** Kinds of tasks that are found by the number or reference of a document. */
const SEARCHED = ['receipts', 'pickings', 'transfer-orders'];

/**
 * Read the first pages of a list of tasks.
 *
 * @param {Calls} calls
 * @param {TaskKind} kind
 * @param {number} pages
 * @param {AbortSignal} signal
 * @returns {Promise<{rows: any[], isMore: boolean}>} in the order of work, and whether there are more
 */
export async function readTasks(calls, kind, pages, signal) {
  const rows = [];
  let last = 1;
  for (let page = 1; page <= Math.min(pages, last); page += 1) {
    const query = { ...kind.filter, per_page: PAGE, page };
    const body = await readPage(calls, kind, query, signal);
    rows.push(...body.data);
    last = body.meta.last_page;
  }
  return { rows: inOrder(rows.map(of(kind)).filter(isTask)), isMore: last > pages };
}

/**
 * Find the tasks that a scan names by their code, or by the number or reference of a document.
 *
 * @param {Calls} calls
 * @param {string} text
 * @param {(kind: TaskKind) => boolean} isUsed
 * @returns {Promise<any[]>}
 */
export async function namedTasks(calls, text, isUsed) {
  const code = text.trim().toUpperCase();
  const kinds = KINDS.filter((kind) => SEARCHED.includes(kind.name) && isUsed(kind));
  const found = await Promise.all(
    kinds.map(async (kind) => {
      const { sort: _, ...filter } = kind.filter ?? {};
      const { data } = await readPage(calls, kind, { ...filter, search: text.trim(), per_page: PAGE });
      return /** @type {any[]} */ (data).map(of(kind));
    }),
  );
  return found.flat().filter((row) => isTask(row) && codesOf(row).includes(code)); // not only their beginnings
}

/**
 * Return who has a task; null if nobody. Who only created pending work does not have it. Of a count that
 * is assigned to nobody, it is who counted last, whom its list does not show.
 *
 * @param {any} row a task, as its list or itself shows it
 * @returns {{id: number, name: string | null} | null}
 */
export function holderOf({ status, user_id, operator, assigned_to, lines }) {
  const counted = (lines ?? []).filter((/** @type {any} */ line) => line.counted_by);
  const last = counted.toSorted((/** @type {any} */ one, /** @type {any} */ other) => (one.counted_at < other.counted_at ? 1 : -1))[0];
  const person = operator ?? assigned_to ?? last?.counted_by ?? null;
  return status === 'pending' && person?.id === user_id ? null : person;
}

/**
 * @param {any} row a task
 * @returns {string[]} codes that a scan may name it by
 */
export function codesOf(row) {
  const codes = [row.code, row.document?.doc_num, referenceOf(row)];
  return codes.filter(Boolean).map((one) => String(one).toUpperCase());
}

/**
 * @param {any} row a task
 * @returns {string | null | undefined} the reference of its document
 */
export const referenceOf = (row) => row.document?.external_ref ?? row.external_ref ?? row.exit_doc_num;

/** @param {TaskKind} kind */
const of = (kind) => (/** @type {any} */ row) => ({ ...row, kind: kind.name });

/** @param {any} row receipts and pickings of transfer orders are worked on through these */
const isTask = ({ document }) => document?.type !== 'transfer_order';

/** What has no priority counts as normal. */
const NORMAL = 2;

/**
 * @param {any[]} rows
 * @returns {any[]} by priority, by the day on which they are due, by wave
 */
function inOrder(rows) {
  const keys = (/** @type {any} */ row) => [
    row.priority ?? NORMAL,
    row.due_date ?? row.due_at ?? '9999',
    row.wave_id ?? Infinity,
  ];
  return rows.toSorted((one, other) => {
    const others = keys(other);
    return keys(one).reduce((found, key, place) => found || (key < others[place] ? -1 : Number(key > others[place])), 0);
  });
}

/**
 * @param {Calls} calls
 * @param {TaskKind} kind
 * @param {Record<string, string | number>} query
 * @param {AbortSignal} [signal]
 * @returns {Promise<any>}
 */
async function readPage(calls, { name }, query, signal) {
  const options = { query, ...(signal && { signal }) };
  try {
    return (await calls.read(/** @type {any} */ (`GET /${name}`), options)).body;
  } catch (error) {
    if (error instanceof Refusal && NONE.includes(error.code)) {
      return { data: [], meta: { last_page: 1 } };
    }
    throw error;
  }
}

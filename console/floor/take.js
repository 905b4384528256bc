/** Taking a task: it is assigned, and what it needs without a network is put on the device. */

import { aheadOf } from './clock.js';
import { joined, NO_GOODS, productOf } from './goods.js';
import { kindOf, MOVES } from './kinds.js';

/**
 * @typedef {import('../core/calls.js').Action} Action
 * @typedef {import('../core/calls.js').Calls} Calls
 * @typedef {import('./store.js').Store} Store
 * @typedef {import('./store.js').Task} Task
 */

/** Most times that a receipt and its document are read until nothing changes between them. */
const ATTEMPTS = 3;

/**
 * Take a task. A pending one becomes that of the signed-in person, which a second one cannot do
 * unseen: the service refuses it.
 *
 * @param {{calls: Calls, store: Store, owner: string}} floor
 * @param {string} id
 * @param {Action | null} start starts it; null to help with one that somebody has started
 * @returns {Promise<Task>}
 */
export async function takeTask({ calls, store, owner }, id, start) {
  const kind = kindOf(id);
  const parameters = { id: id.split('/')[1] ?? '' };
  if (start !== null && kind.start !== undefined) {
    const operation = /** @type {any} */ (kind.start);
    await start.run((key) => calls.write(operation, { key, parameters }));
  }
  const task = await readTask(calls, owner, id);
  await store.keepTask(task);
  return task;
}

/**
 * @param {Calls} calls
 * @param {string} owner
 * @param {string} id
 * @returns {Promise<Task>}
 */
async function readTask(calls, owner, id) {
  const [name = '', number = ''] = id.split('/');
  const read = (/** @type {string} */ path) => {
    return calls.read(/** @type {any} */ (`GET ${path}`), { parameters: { id: number } });
  };
  const readMain = () => read(`/${name}/{id}`);
  const [first, goods] = await Promise.all([readMain(), read(`/${name}/{id}/goods`)]);
  const { beside } = kindOf(id);
  const { shown, document } =
    beside === undefined
      ? { shown: first, document: null }
      : await withDocument(calls, beside, first, readMain);
  const { data } = /** @type {any} */ (shown.body);
  const { products, positions, whs_code, pick_substitution } = /** @type {any} */ (goods.body).data;
  /** @type {Task} */
  const task = {
    id,
    owner,
    resources: { [id]: data },
    etags: shown.etag === null ? {} : { [id]: shown.etag },
    warehouse: whs_code ?? data.warehouse_code ?? null,
    changes: 0,
    ahead: aheadOf(shown.date),
    substitution: pick_substitution,
    goods: {
      products: products.map(productOf),
      positions: Object.fromEntries(
        positions.map((/** @type {any} */ one) => [one.bin_code, one.pick_sequence]),
      ),
    },
  };
  if (document !== null) {
    task.resources[`${beside}/${document.id}`] = { ...document, receiptThen: { lines: data.lines } };
  }
  return task;
}

/**
 * Read the document of a receipt, and the receipt after it. What is received between the two would
 * count twice, so both are read again if the receipt has changed meanwhile.
 *
 * @param {Calls} calls
 * @param {string} beside path of documents
 * @param {any} shown the receipt
 * @param {() => Promise<any>} readAgain
 */
async function withDocument(calls, beside, shown, readAgain) {
  for (let attempt = 1; ; attempt += 1) {
    const parameters = { id: shown.body.data.document.id };
    const { body } = await calls.read(/** @type {any} */ (`GET /${beside}/{id}`), { parameters });
    const before = shown;
    shown = await readAgain();
    if (shown.etag === before.etag || attempt === ATTEMPTS) {
      return { shown, document: /** @type {any} */ (body).data };
    }
  }
}

/**
 * Read a task again that others may have changed, unless a scan of it was sent or answered meanwhile: it
 * would count twice, or be lost, until its answer.
 *
 * @param {{calls: Calls, store: Store, owner: string}} floor
 * @param {Task} task
 */
export async function refreshTask({ calls, store, owner }, task) {
  if (kindOf(task.id).filter === undefined) {
    return;
  }
  const found = await readTask(calls, owner, task.id);
  await store.changeTask(owner, task.id, (kept) =>
    kept.changes === task.changes
      ? { ...kept, ...found, changes: kept.changes, goods: joined(kept.goods, found.goods) }
      : kept,
  );
}

/**
 * @param {string} owner
 * @param {string} warehouse code
 * @returns {Task} moves by hand in a warehouse
 */
export function movesIn(owner, warehouse) {
  const id = `${MOVES}/${warehouse}`;
  const resources = { [id]: { whs_code: warehouse, lines: [] } };
  return { id, owner, resources, etags: {}, warehouse, changes: 0, goods: NO_GOODS };
}

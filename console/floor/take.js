/** Taking a task: it is assigned, and what it needs without a network is put on the device. */

import { joined, NO_GOODS, productOf } from './goods.js';
import { kindOf, MOVES } from './kinds.js';

/**
 * @typedef {import('../core/calls.js').Action} Action
 * @typedef {import('../core/calls.js').Calls} Calls
 * @typedef {import('./store.js').Store} Store
 * @typedef {import('./store.js').Task} Task
 */

/**
 * Return who has a task; null if nobody. Who only created pending work does not have it.
 *
 * @param {any} row a task, as its list or itself shows it
 * @returns {{id: number, name: string | null} | null}
 */
export function holderOf({ status, user_id, operator, assigned_to }) {
  const person = operator ?? assigned_to ?? null;
  return status === 'pending' && person?.id === user_id ? null : person;
}

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
  const [shown, goods] = await Promise.all([read(`/${name}/{id}`), read(`/${name}/{id}/goods`)]);
  const { data } = /** @type {any} */ (shown.body);
  const { products, positions, whs_code } = /** @type {any} */ (goods.body).data;
  /** @type {Task} */
  const task = {
    id,
    owner,
    resources: { [id]: data },
    etags: shown.etag === null ? {} : { [id]: shown.etag },
    warehouse: whs_code ?? data.warehouse_code ?? null,
    changes: 0,
    goods: {
      products: products.map(productOf),
      positions: Object.fromEntries(
        positions.map((/** @type {any} */ one) => [one.bin_code, one.pick_sequence]),
      ),
    },
  };
  const { beside } = kindOf(id);
  if (beside !== undefined) {
    const path = `${beside}/${data.document.id}`;
    const document = await calls.read(/** @type {any} */ (`GET /${beside}/{id}`), {
      parameters: { id: data.document.id },
    });
    const then = { lines: data.lines };
    task.resources[path] = { .../** @type {any} */ (document.body).data, receiptThen: then };
  }
  return task;
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
      ? { ...found, changes: kept.changes, goods: joined(kept.goods, found.goods) }
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

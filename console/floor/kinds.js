/**
 * The kinds of tasks: which ones there are, what they have to do, and what a movement asks of the
 * service. Everything else is the same for all of them.
 */

import { exact } from './goods.js';

/**
 * @typedef {import('./goods.js').Goods} Goods
 * @typedef {import('./steps.js').Effect} Effect
 * @typedef {import('./steps.js').Entry} Entry
 * @typedef {import('./steps.js').Line} Line
 * @typedef {import('./store.js').Request} Request
 * @typedef {import('./store.js').Task} Task
 */

/**
 * @typedef {object} TaskKind
 * @property {string} name first part of its paths
 * @property {readonly string[]} permissions of which one is needed
 * @property {Record<string, string>} [filter] of its list: what can be worked on
 * @property {readonly import('./steps.js').Ask[]} asks
 * @property {boolean} isBound whether only what the lines name may be moved
 * @property {boolean} [hasExpiry] whether goods with batches are asked for their date
 * @property {boolean} [isBlind] whether what is open is not told
 * @property {boolean} [isWhole] whether all lines are scanned before one request carries them out
 * @property {string} [start] the operation that takes a pending task, and names who carries it out
 * @property {string} [beside] path of the document whose lines say what is expected
 * @property {(task: Task) => Line[]} lines
 * @property {(task: Task, entry: Required<Pick<Entry, 'product' | 'qty'>> & Entry) => Request} request
 *   of one movement, or of a whole task
 * @property {(request: Request) => Request | null} undo null if it cannot be undone
 * @property {(task: Task, reason: string | null) => Request} [end] what ends the task; the reason is
 *   why something is left
 * @property {'code' | 'text'} [reason] how the service takes the reason, if it needs one
 * @property {boolean} [endsItself] whether nothing is to end after everything is done
 */

/** Moves of goods by hand: no task of the service, but one of the device for each warehouse. */
export const MOVES = 'moves';

/** @param {Task} task */
const main = (task) => task.resources[task.id];

/** @param {Task} task */
const numberOf = (task) => Number(task.id.split('/')[1]);

/**
 * @param {string} operation
 * @param {Task} task
 * @param {Record<string, unknown>} body fields without a value are left out
 * @returns {Request}
 */
function requestOf(operation, task, body) {
  const given = Object.entries(body).filter(([, value]) => value !== undefined && value !== null);
  return { operation, parameters: { id: numberOf(task) }, body: Object.fromEntries(given) };
}

/**
 * @param {Entry} entry
 * @returns {Record<string, unknown>} the goods, as most requests name them
 */
function goodsOf({ product, qty, batch, serial }) {
  return { item_code: product?.item_code, qty, batch, ...(serial && { serials: [serial] }) };
}

/**
 * @param {string} operation
 * @returns {(request: Request) => Request}
 */
const undoneBy = (operation) => (request) => ({ ...request, operation });

/**
 * Return lines in the order of picking; positions without a place come last.
 *
 * @param {Line[]} lines
 * @param {Goods} goods
 */
function inOrder(lines, { positions }) {
  const place = (/** @type {Line} */ { position }) => positions[position ?? ''] ?? Infinity;
  return lines.toSorted((one, other) => {
    const [first, second] = [place(one), place(other)];
    const [here, there] = [one.position ?? '', other.position ?? ''];
    return first === second ? here.localeCompare(there) : first - second;
  });
}

/**
 * The lines of the document of a receipt, with what is received. What the document shows was read
 * with the receipt as it was then, so only what came since is added.
 *
 * @param {Task} task
 * @returns {Line[]}
 */
function expectedLines(task) {
  const { document } = main(task);
  const expected = task.resources[`entry-documents/${document.id}`];
  /** @type {Map<string, number>} */
  const since = new Map();
  for (const [receipt, sign] of [[main(task), 1], [expected.receiptThen, -1]]) {
    for (const { item_code, qty } of receipt.lines) {
      since.set(item_code, (since.get(item_code) ?? 0) + sign * qty);
    }
  }
  return expected.lines.map((/** @type {any} */ line) => {
    const open = line.qty - line.received_qty;
    const more = Math.min(Math.max(since.get(line.item_code) ?? 0, -line.received_qty), open);
    since.set(line.item_code, (since.get(line.item_code) ?? 0) - more);
    const done = exact(line.received_qty + more);
    const expiry = line.expiry_date && { expiry: { batch: line.batch, date: line.expiry_date } };
    return { item_code: line.item_code, position: null, batch: null, serials: [], qty: line.qty, done, ...expiry };
  });
}

/** @param {Task} task a transfer */
const execute = (task) => requestOf('POST /transfers/{id}/execute', task, {});

/** @type {readonly TaskKind[]} */
export const KINDS = [
  {
    name: 'receipts',
    permissions: ['entries.manage'],
    filter: { status: 'pending,started' },
    asks: ['product', 'batch', 'expires', 'serial', 'qty', 'target'],
    isBound: true,
    hasExpiry: true,
    start: 'POST /receipts/{id}/start',
    beside: 'entry-documents',
    lines: expectedLines,
    request: (task, entry) =>
      requestOf('POST /receipts/{id}/lines', task, {
        ...goodsOf(entry),
        bin_code: entry.target,
        expiry_date: entry.expires || null,
        ...(entry.isDamaged && { inventory_status: 'quarantine' }),
      }),
    undo: undoneBy('POST /receipts/{id}/lines/undo'),
    end: (task) => requestOf('POST /receipts/{id}/finalize', task, {}),
  },
  {
    name: 'pickings',
    permissions: ['exits.manage'],
    filter: { status: 'pending,started', sort: 'priority' },
    asks: ['position', 'product', 'batch', 'serial', 'qty'],
    isBound: true,
    start: 'POST /pickings/{id}/start',
    lines: (task) =>
      inOrder(
        main(task)
          .lines.filter((/** @type {any} */ line) => line.bin_code !== null)
          .map((/** @type {any} */ line) => ({
            item_code: line.item_code,
            position: line.bin_code,
            batch: line.batch_num,
            serials: [], // any of the position will do, unless the order names it
            proposed: line.serials,
            qty: line.qty,
            done: line.picked_qty,
          })),
        task.goods,
      ),
    request: (task, entry) =>
      requestOf('POST /pickings/{id}/picks', task, {
        ...goodsOf(entry),
        bin_code: entry.position,
      }),
    undo: undoneBy('POST /pickings/{id}/picks/undo'),
    end: (task, reason) =>
      requestOf('POST /pickings/{id}/finalize', task, { shortage_reason: reason }),
    reason: 'code',
  },
  {
    name: 'counts',
    permissions: ['inventory.manage', 'exits.manage', 'entries.manage'],
    filter: { status: 'open,counting' },
    asks: ['position', 'product', 'batch', 'serial', 'qty'],
    isBound: false,
    isBlind: true,
    lines: (task) =>
      inOrder(
        main(task).lines.map((/** @type {any} */ line) => ({
          item_code: line.item_code ?? '',
          position: line.bin_code,
          batch: line.batch_num,
          serials: line.serial_number === null ? [] : [line.serial_number],
          qty: 1,
          done: line.status === 'counted' ? 1 : 0,
          status: line.inventory_status,
        })),
        task.goods,
      ),
    request: (task, entry) =>
      requestOf('POST /counts/{id}/lines', task, {
        ...(entry.isEmpty ? { empty: true } : goodsOf(entry)),
        bin_code: entry.position,
        inventory_status: entry.status,
        counted_at: new Date(Date.now() - (task.ahead ?? 0)).toISOString(), // it may be sent much later
      }),
    undo: () => null,
    end: (task) => requestOf('POST /counts/{id}/finish', task, {}),
  },
  {
    name: 'transfers',
    permissions: ['inventory.manage'],
    filter: { status: 'pending' },
    asks: ['position', 'product', 'batch', 'serial', 'qty', 'target'],
    isBound: true,
    isWhole: true,
    lines: (task) =>
      inOrder(
        main(task).lines.map((/** @type {any} */ line) => ({
          item_code: line.item_code,
          position: line.from_bin,
          batch: line.batch_num,
          serials: line.serials,
          qty: line.qty,
          done: 0,
          target: line.to_bin,
        })),
        task.goods,
      ),
    request: execute,
    undo: () => null,
    end: execute,
  },
  {
    name: 'transfer-orders',
    permissions: ['transfer-orders.manage'],
    filter: { status: 'in_transit,receiving' },
    asks: ['product', 'batch', 'serial', 'qty', 'target'],
    isBound: true,
    lines: (task) =>
      main(task).lines.map((/** @type {any} */ line) => ({
        item_code: line.item_code,
        position: null,
        batch: line.batch_num,
        serials: line.serial_numbers,
        qty: line.dispatched_qty,
        done: line.received_qty,
      })),
    request: (task, entry) =>
      requestOf('POST /transfer-orders/{id}/receive', task, {
        lines: [
          {
            ...goodsOf(entry),
            bin_code: entry.target,
            ...(entry.isDamaged && { inventory_status: 'quarantine' }),
          },
        ],
      }),
    undo: () => null,
    end: (task) => requestOf('POST /transfer-orders/{id}/receive', task, { final: true }),
    endsItself: true,
  },
  {
    name: 'packing-orders',
    permissions: ['exits.manage'],
    filter: { status: 'open,in_progress' },
    asks: ['unit', 'product', 'batch', 'serial', 'qty'],
    isBound: true,
    lines: (task) =>
      main(task).lines.map((/** @type {any} */ line) => ({
        item_code: line.item_code,
        position: null,
        batch: line.batch_num,
        serials: line.serial_numbers,
        qty: line.qty,
        done: line.packed_qty,
      })),
    request: (task, entry) => ({
      operation: 'POST /handling-units/{id}/contents',
      parameters: { id: unitOf(task, entry.unit)?.id },
      body: goodsOf(entry),
    }),
    undo: (request) =>
      request.operation.endsWith('/close')
        ? { ...request, operation: 'POST /handling-units/{id}/reopen', body: {} }
        : { ...request, operation: 'POST /handling-units/{id}/contents/remove' },
    end: (task, reason) =>
      requestOf('POST /packing-orders/{id}/complete', task, reason === null ? {} : { short: true, reason }),
    reason: 'text',
  },
  {
    name: MOVES,
    permissions: ['inventory.manage'],
    asks: ['position', 'product', 'batch', 'serial', 'qty', 'target'],
    isBound: false,
    lines: () => [],
    request: (task, entry) =>
      moveOf(task, entry, { from_bin: entry.position, to_bin: entry.target }),
    undo: ({ operation, parameters, body }) => {
      const { lines, ...others } = /** @type {any} */ (body);
      const back = lines.map((/** @type {any} */ line) => ({
        ...line,
        from_bin: line.to_bin,
        to_bin: line.from_bin,
      }));
      return { operation, parameters, body: { ...others, lines: back } };
    },
  },
];

/**
 * @param {Task} task whose id ends with the code of the warehouse
 * @param {Entry} entry
 * @param {{from_bin?: string, to_bin?: string}} way
 * @returns {Request}
 */
function moveOf(task, entry, way) {
  const warehouse = task.resources[task.id].whs_code;
  const lines = [{ ...goodsOf(entry), ...way }];
  const body = { from_warehouse: warehouse, to_warehouse: warehouse, lines };
  return { operation: 'POST /transfers', parameters: {}, body };
}

/**
 * @param {Task} task a packing order
 * @returns {any[]} its handling units: those that the order shows, and what was answered about them since
 */
export function unitsOf({ id, resources }) {
  const answered = Object.entries(resources).filter(([path]) => path.startsWith('handling-units/'));
  const units = [...(resources[id].handling_units ?? []), ...answered.map(([, unit]) => unit)];
  return [...new Map(units.map((unit) => [unit.id, unit])).values()];
}

/**
 * @param {Task} task a packing order
 * @param {string | undefined} code of a handling unit, or its SSCC
 * @returns {any} the handling unit; undefined if the order has none of that code
 */
export function unitOf(task, code) {
  const wanted = code?.toUpperCase();
  return unitsOf(task).find(({ code: own, sscc }) => [own, sscc].includes(wanted));
}

/**
 * @param {Task} task
 * @returns {boolean} whether nothing can be worked on any more: somebody has ended or cancelled it
 */
export function isOver(task) {
  const { filter } = kindOf(task.id);
  return filter !== undefined && !filter['status']?.split(',').includes(main(task).status);
}

/**
 * @param {string} id of a task
 * @returns {TaskKind}
 */
export function kindOf(id) {
  const kind = KINDS.find(({ name }) => id.startsWith(`${name}/`));
  if (kind === undefined) {
    throw new TypeError(`There is no kind of task for ${id}`);
  }
  return kind;
}

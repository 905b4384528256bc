/** A task in work: its lines with what waits to be sent, and what a scan does in it. */

import { calls } from '../core/app.js';
import { isUnknown, Refusal } from '../core/refusal.js';
import { joined, NO_GOODS, readLabel } from './goods.js';
import { kindOf, unitOf, unitsOf } from './kinds.js';
import { entryText } from './names.js';
import { record, reload, scans, sender, showKept, store, tasks, today } from './state.js';
import { candidates, nextAsk, openQty, takeScan, withEffects } from './steps.js';
import { say } from './words.js';

/**
 * @typedef {import('./goods.js').Goods} Goods
 * @typedef {import('./steps.js').Effect} Effect
 * @typedef {import('./steps.js').Entry} Entry
 * @typedef {import('./steps.js').Line} Line
 * @typedef {import('./steps.js').Replaced} Replaced
 * @typedef {import('./store.js').Scan} Scan
 * @typedef {import('./store.js').Task} Task
 */

/**
 * @param {Task} task
 * @returns {Scan[]} its scans that wait
 */
const waitingOf = ({ id }) => scans.value.filter(({ task, status }) => task === id && status === 'waiting');

/**
 * Return the lines of a task with what is scanned and the service does not show yet.
 *
 * @param {Task} task
 */
export function linesOf(task) {
  return withEffects(kindOf(task.id).lines(task), effectsOf(task));
}

/**
 * @param {Task} task
 * @returns {Scan | undefined} the scan that ends it, until that is done
 */
export function endOf({ id }) {
  return scans.value.find(({ task, isEnd, status }) => task === id && isEnd && status !== 'done');
}

/**
 * @param {Task} task a packing order
 * @returns {string[]} codes of its handling units that have goods and are not closed: they keep it open
 */
export function unitsToClose(task) {
  const filled = new Set(waitingOf(task).map(({ request }) => request.parameters['id']));
  return unitsOf(task)
    .filter(({ id, code, contents = [] }) => isOpenUnit(task, code) && (contents.length > 0 || filled.has(id)))
    .map(({ code }) => code);
}

/**
 * @param {Task} task
 * @returns {Effect[]}
 */
function effectsOf(task) {
  return [...waitingOf(task).flatMap(({ effect }) => effect ?? []), ...(task.scanned ?? [])];
}

/**
 * @param {Task} task
 * @param {readonly Line[]} lines of it with what waits
 * @param {Entry} entry
 * @returns {boolean} whether others have done meanwhile what it is for. Goods that arrive are there all
 *   the same: more of them than was ordered may be received.
 */
export function isTaken(task, lines, entry) {
  const { isBound, asks } = kindOf(task.id);
  const isArrival = asks.includes('target') && !asks.includes('position');
  const hasBegun = entry.position !== undefined || entry.product !== undefined;
  return isBound && !isArrival && hasBegun && candidates(lines, entry).length === 0;
}

/**
 * @param {Task} task a count
 * @param {readonly Line[]} lines of it with what waits
 * @param {Entry} entry
 * @returns {boolean} whether its goods are counted at its position: another quantity replaces that one
 */
export function isCounted(task, lines, entry) {
  const named = effectOf(kindOf(task.id), entry);
  const counted = [...lines.filter(({ done }) => done > 0), ...effectsOf(task)];
  return counted.some(({ item_code, position, batch }) => {
    return item_code === named.item_code && position === named.position && batch === named.batch;
  });
}

/**
 * @param {Task} task a count
 * @param {readonly Line[]} lines of it with what waits
 * @param {string | undefined} position
 * @returns {Line[]} its lines at the position that are not counted. That a position is empty is none
 *   any more after goods were found there.
 */
export function uncountedAt(task, lines, position) {
  const here = lines.filter((line) => line.position === position);
  const isFound = [...here.filter(({ done }) => done > 0), ...effectsOf(task)].some((one) => {
    return one.position === position && one.item_code !== '';
  });
  return here.filter(({ item_code, qty, done }) => done < qty && !(isFound && item_code === ''));
}

/**
 * Record that nothing of the lines of a count that are open at a position is there: each by its name,
 * because `empty` also counts what is there and not in the count.
 *
 * @param {Task} task
 * @param {string} position
 */
export async function recordNothing(task, position) {
  for (const line of uncountedAt(task, linesOf(task), position)) {
    const { item_code, batch, serials, status } = line;
    const product = task.goods.products.find((one) => one.item_code === item_code) ?? {
      item_code, name: '', barcode: null, gtins: [], hasBatches: false, hasSerials: false,
    };
    /** @type {Entry} */
    const missing = { product, qty: 0 };
    Object.assign(missing, batch && { batch }, serials[0] && { serial: serials[0] }, status && { status });
    await recordEntry(task, { position, ...(item_code === '' ? { isEmpty: true } : missing) });
  }
}

/**
 * Take a scan. What the device does not know is asked of the service, if there is a network.
 *
 * @param {Task} task
 * @param {readonly Line[]} lines
 * @param {Entry} entry
 * @param {string} text
 * @returns {Promise<Entry | string>} the entry, or what is wrong
 */
export async function entryAfter(task, lines, entry, text) {
  const kind = kindOf(task.id);
  const read = readLabel(text, today());
  const take = (/** @type {Goods} */ goods, /** @type {Replaced | undefined} */ replaced = undefined) =>
    takeScan(kind, goods, lines, entry, read, replaced);
  const isAgain = doubted === `${task.id} ${text}`;
  doubted = '';
  let { goods } = task;
  let taken = take(goods);
  if ('unknown' in taken) {
    const more = await lookedUp(task, entry, read);
    if (typeof more === 'string') {
      return say(more, { code: text.slice(0, 60) });
    }
    goods = joined(goods, more);
    taken = take(goods);
  }
  const part = replaceable(task).find((one) => 'problem' in taken && taken.problem.key === `scan_wrong_${one}`);
  if (part !== undefined && isAgain) {
    taken = take(goods, part);
  }
  if ('problem' in taken) {
    const problem = say(/** @type {any} */ (taken.problem.key), taken.problem.values);
    const mayReplace = part !== undefined && !isAgain;
    doubted = mayReplace ? `${task.id} ${text}` : '';
    return mayReplace ? `${problem}. ${say('scan_to_replace')}` : problem;
  }
  if ('unknown' in taken) {
    return say('unknown_code', { code: text.slice(0, 60) });
  }
  if (taken.entry.unit !== undefined && !isOpenUnit(task, taken.entry.unit)) {
    return say('no_open_unit', { code: taken.entry.unit });
  }
  return withQty(kind, lines, taken.entry);
}

/**
 * Ask the service what a scan names, and keep it with the task. Without a network a position is taken
 * as it is: the service checks it when the scan is sent.
 *
 * @param {Task} task
 * @param {Entry} entry
 * @param {import('./goods.js').Read} read
 * @returns {Promise<Goods | 'unknown_here' | 'ask_later'>} or the words of why nobody could say
 */
async function lookedUp(task, entry, read) {
  const { lookUp } = await import('./look_up.js');
  const found = await lookUp(calls, read, task.warehouse).catch((error) => error);
  if (!(found instanceof Error)) {
    if (found.products.length + Object.keys(found.positions).length > 0) {
      await store.changeTask(task.owner, task.id, (kept) => ({ ...kept, goods: joined(kept.goods, found) }));
      await reload();
    }
    return found;
  }
  const isLimited = found instanceof Refusal && found.status === 429;
  if (found instanceof Refusal && !isLimited && !isUnknown(found)) {
    return NO_GOODS;
  }
  if (read.text && isPosition(task, entry)) {
    return { products: [], positions: { [read.text]: null } };
  }
  return isLimited ? 'ask_later' : 'unknown_here';
}

/**
 * @param {Task} task a packing order
 * @param {string} code of a handling unit, or its SSCC
 * @returns {boolean} whether goods can be put into it, after what waits to be sent
 */
export function isOpenUnit(task, code) {
  const unit = unitOf(task, code);
  const request = waitingOf(task).findLast(({ request: { operation, parameters } }) => {
    return /\/(close|reopen)$/.test(operation) && parameters['id'] === unit?.id;
  })?.request;
  return request ? request.operation.endsWith('/reopen') : unit?.status === 'open';
}

/**
 * Keep a new handling unit with its packing order, which may have been read before it.
 *
 * @param {Task} task
 * @param {{id: number}} unit as the service answered
 */
export async function keepUnit({ owner, id }, unit) {
  await store.changeTask(owner, id, (kept) => ({
    ...kept,
    resources: { ...kept.resources, [`handling-units/${unit.id}`]: unit },
    changes: kept.changes + 1,
  }));
  await showKept();
}

/**
 * @param {Task} task
 * @param {Entry} entry
 * @returns {boolean} whether any position answers what is asked
 */
function isPosition(task, entry) {
  const kind = kindOf(task.id);
  const ask = nextAsk(kind, entry);
  return ask === 'target' || (ask === 'position' && (!kind.isBound || replaceable(task).includes('position')));
}

/** The scan before, if it may be taken when it is scanned again: its task and its text. */
let doubted = '';

/**
 * @param {Task} task
 * @returns {readonly Replaced[]} of what its lines name, what the company lets people replace
 */
function replaceable({ substitution = 'none' }) {
  switch (substitution) {
    case 'none':
      return [];
    case 'any':
      return ['position', 'batch'];
    default:
      return [substitution];
  }
}

/**
 * Answer the question for the quantity where there is only one answer: not for a case of which one
 * unit is open.
 *
 * @param {import('./kinds.js').TaskKind} kind
 * @param {readonly Line[]} lines
 * @param {Entry} entry
 * @returns {Entry}
 */
function withQty(kind, lines, entry) {
  const isCase = entry.isCounted && entry.scanned !== 1;
  const isOne = entry.serial !== undefined || (kind.isBound && !isCase && openQty(lines, entry) === 1);
  return nextAsk(kind, entry) === 'qty' && isOne ? { ...entry, qty: 1 } : entry;
}

/**
 * Return the quantity with which the question for it begins; empty where it is not told.
 *
 * @param {import('./kinds.js').TaskKind} kind
 * @param {readonly Line[]} lines
 * @param {Entry} entry
 */
export function presetQty(kind, lines, entry) {
  return kind.isBound && !entry.isCounted ? openQty(lines, entry) : (entry.scanned ?? '');
}

/**
 * Record a movement that has everything; return with what the next one begins.
 *
 * @param {Task} task
 * @param {Entry} entry
 * @returns {Promise<Entry>}
 */
export async function recordEntry(task, entry) {
  const kind = kindOf(task.id);
  const request = kind.request(task, /** @type {any} */ (entry));
  const [text, effect] = [entryText(entry), effectOf(kind, entry)];
  if (kind.isWhole) {
    await changeScanned(task, (scanned) => [...scanned, { ...effect, text }]);
  } else {
    await record({ task: task.id, text, request, effect });
  }
  const latest = taskOf(task.id) ?? task;
  const lines = linesOf(latest);
  if (kind.isWhole && lines.every(({ qty, done }) => done >= qty)) {
    await record({ task: task.id, text: say('carry_out'), request, isEnd: true });
  }
  return nextEntry(latest, lines, entry);
}

/**
 * @param {Task} task
 * @param {(scanned: NonNullable<Task['scanned']>) => NonNullable<Task['scanned']>} change
 */
async function changeScanned({ owner, id }, change) {
  await store.changeTask(owner, id, (kept) => ({ ...kept, scanned: change(kept.scanned ?? []) }));
  await showKept();
}

/**
 * @param {import('./kinds.js').TaskKind} kind
 * @param {Entry} entry
 * @returns {Effect}
 */
export function effectOf({ isBlind }, entry) {
  const { product, position, batch, serial, qty, target, isEmpty, instead = [] } = entry;
  return {
    item_code: isEmpty ? '' : (product?.item_code ?? ''),
    position: instead.includes('position') ? null : (position ?? null),
    batch: instead.includes('batch') ? null : (batch ?? null),
    serial: serial ?? null,
    qty: isBlind ? 1 : (qty ?? 1), // a line is counted, whatever was counted
    target: target ?? null,
  };
}

/**
 * @param {Task} task
 * @param {readonly Line[]} lines with this movement
 * @param {Entry} entry
 * @returns {Entry}
 */
export function nextEntry(task, lines, { position, unit }) {
  const kind = kindOf(task.id);
  if (unit !== undefined) {
    return { unit };
  }
  const isThere = kind.isBound
    ? candidates(lines, {})[0]?.position === position
    : (kind.isBlind ?? false);
  return isThere && position !== undefined ? { position } : {};
}

/**
 * @param {Task} task that one request carries out
 * @returns {NonNullable<Task['scanned']>[number] | undefined} its last line that can be taken back:
 *   none after the request
 */
export function lastLine({ id, scanned }) {
  return scans.value.some(({ task }) => task === id) ? undefined : scanned?.at(-1);
}

/**
 * Take the last line back of a task that one request carries out, if it is still the last one.
 *
 * @param {Task} task
 */
export async function takeLineBack(task) {
  const count = task.scanned?.length;
  const latest = taskOf(task.id);
  if (latest && lastLine(latest)) {
    await changeScanned(task, (scanned) => (scanned.length === count ? scanned.slice(0, -1) : scanned));
  }
}

/**
 * Take the last scan of a task back: what was never sent is gone, the rest is undone at the service.
 *
 * @param {Scan} scan as `lastScan` returned it; nothing is done if it is the last one no longer
 */
export async function undo(scan) {
  if (lastScan(scan.task)?.number !== scan.number) {
    return;
  }
  if (await (await sender()).withdraw(scan)) {
    await reload();
    return;
  }
  const request = kindOf(scan.task).undo(scan.request);
  if (request !== null) {
    const effect = scan.effect && { ...scan.effect, qty: -scan.effect.qty };
    const text = say('undo_of', { text: scan.text });
    await record({ task: scan.task, text, request, effect, undoes: scan.number });
  }
}

/**
 * @param {string} task
 * @returns {Scan | undefined} the last scan of it that can be taken back
 */
export function lastScan(task) {
  // What is left to the supervisor was not carried out.
  const own = scans.value.filter((scan) => scan.task === task && !scan.isEnd && scan.status !== 'left');
  const undone = new Set(own.map(({ undoes }) => undoes));
  const last = own.findLast(({ undoes, number }) => undoes === null && !undone.has(number));
  const isFree = last?.status === 'waiting' && last.sentAt === null;
  const isUndoable = last && (isFree || (last.status !== 'refused' && kindOf(task).undo(last.request)));
  return isUndoable ? last : undefined;
}

/**
 * @param {string} id
 * @returns {Task | undefined} a task on the device
 */
export function taskOf(id) {
  return tasks.value.find((task) => task.id === id);
}


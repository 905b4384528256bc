/** A task in work: its lines with what waits to be sent, and what a scan does in it. */

import { calls } from '../core/app.js';
import { Refusal } from '../core/refusal.js';
import { joined, readLabel } from './goods.js';
import { kindOf, unitOf } from './kinds.js';
import { entryText } from './names.js';
import { record, reload, scans, sender, store, tasks } from './state.js';
import { candidates, nextAsk, openQty, takeScan, withEffects } from './steps.js';
import { say } from './words.js';

/**
 * @typedef {import('./steps.js').Effect} Effect
 * @typedef {import('./steps.js').Entry} Entry
 * @typedef {import('./steps.js').Line} Line
 * @typedef {import('./store.js').Scan} Scan
 * @typedef {import('./store.js').Task} Task
 */

/**
 * Return the lines of a task with what its waiting scans add.
 *
 * @param {Task} task
 * @param {readonly Effect[]} own of what is scanned and not yet a request
 */
export function linesOf(task, own) {
  const waiting = scans.value.filter((scan) => scan.task === task.id && scan.status === 'waiting');
  const effects = waiting.flatMap(({ effect }) => effect ?? []);
  return withEffects(kindOf(task.id).lines(task), [...effects, ...own]);
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
  const read = readLabel(text);
  let taken = takeScan(kind, task.goods, lines, entry, read);
  if ('unknown' in taken) {
    const { lookUp } = await import('./look_up.js');
    const found = await lookUp(calls, read, task.warehouse).catch((error) => error);
    const isAnswer = !(found instanceof Error);
    if (isAnswer && found.products.length + Object.keys(found.positions).length > 0) {
      const more = (/** @type {Task} */ kept) => ({ ...kept, goods: joined(kept.goods, found) });
      await store.changeTask(task.owner, task.id, more);
      await reload();
      taken = takeScan(kind, joined(task.goods, found), lines, entry, read);
    } else if (!isAnswer && !(found instanceof Refusal) && read.text && isPosition(kind, entry)) {
      // Without a network the service checks the position when the scan is sent.
      const unchecked = { products: [], positions: { [read.text]: null } };
      taken = takeScan(kind, joined(task.goods, unchecked), lines, entry, read);
    } else if (!isAnswer && !(found instanceof Refusal)) {
      return say('unknown_here', { code: text.slice(0, 60) });
    }
  }
  if ('problem' in taken) {
    const { key, values } = taken.problem;
    return say(/** @type {any} */ (key), values);
  }
  if ('unknown' in taken) {
    return say('unknown_code', { code: text.slice(0, 60) });
  }
  if (taken.entry.unit !== undefined && unitOf(task, taken.entry.unit)?.status !== 'open') {
    return say('no_open_unit', { code: taken.entry.unit });
  }
  return withQty(kind, lines, taken.entry);
}

/**
 * @param {import('./kinds.js').TaskKind} kind
 * @param {Entry} entry
 */
function isPosition(kind, entry) {
  const ask = nextAsk(kind, entry);
  return ask === 'target' || (ask === 'position' && !kind.isBound);
}

/**
 * Answer the question for the quantity where there is only one answer.
 *
 * @param {import('./kinds.js').TaskKind} kind
 * @param {readonly Line[]} lines
 * @param {Entry} entry
 * @returns {Entry}
 */
function withQty(kind, lines, entry) {
  const isOne = entry.serial !== undefined || (kind.isBound && openQty(lines, entry) === 1);
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
  await record({ task: task.id, text: entryText(entry), request, effect: effectOf(kind, entry) });
  const latest = taskOf(task.id) ?? task;
  return nextEntry(latest, linesOf(latest, []), entry);
}

/**
 * @param {import('./kinds.js').TaskKind} kind
 * @param {Entry} entry
 * @returns {Effect}
 */
export function effectOf({ isBlind }, { product, position, batch, serial, qty, target, isEmpty }) {
  return {
    item_code: isEmpty ? '' : (product?.item_code ?? ''),
    position: position ?? null,
    batch: batch ?? null,
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
export function nextEntry(task, lines, { position, unit, isEmpty }) {
  const kind = kindOf(task.id);
  if (unit !== undefined) {
    return { unit };
  }
  const isThere = kind.isBound
    ? candidates(lines, {})[0]?.position === position
    : kind.isBlind && !isEmpty;
  return isThere && position !== undefined ? { position } : {};
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


/**
 * Sends the scans of the device in order: each at least once with its key, so that the service
 * carries it out exactly once.
 */

import { isUnknown, Refusal, SessionEnded } from '../core/refusal.js';
import { aheadOf } from './clock.js';

/**
 * @typedef {import('../core/calls.js').Calls} Calls
 * @typedef {import('../core/refusal.js').Problem} Problem
 * @typedef {import('./store.js').Scan} Scan
 * @typedef {import('./store.js').Store} Store
 */

/**
 * How sending ended: all that can be sent is sent; no network or no answer; too many requests; a
 * sign-in is needed; the service serves the company no longer, for a while, for good, or here; or the
 * device keeps nothing more.
 *
 * @typedef {'sent' | 'unanswered' | 'limited' | 'ended' | 'suspended' | 'cancelled' | 'moved' | 'unkept'} Outcome
 */

/**
 * For how long the service surely knows a key, in milliseconds: it is 24 hours, and `ServiceClock`
 * may be wrong by an hour at both ends.
 */
const KEY_LIFETIME = 21 * 3600 * 1000;

/**
 * Refusals of everything that a company asks → how sending ends: no fault of a scan, which keeps its key.
 *
 * @type {ReadonlyMap<string, Outcome>}
 */
const OF_COMPANY = new Map([
  ['tenant_suspended', 'suspended'], ['tenant_cancelled', 'cancelled'], ['tenant_moved', 'moved'],
  ['rate_limited', 'limited'],
]);

/** The feature without which a plan has no request at all; a refusal for another one is of one task. */
const INTERFACE = 'api.public.enabled';

/** The message of a firewall, whose code is that of a missing permission. */
const OF_FIREWALL = 'The request is not allowed.';

/**
 * Refusals that the service repeats for a key: it has surely done nothing, and only another key
 * asks again. After any other refusal, an earlier attempt may have been carried out, so the scan
 * keeps its key.
 */
const REPEATED = [
  'conflict', 'gone', 'limit_reached', 'method_not_allowed', 'not_found', 'order_in_wave',
  'payload_too_large', 'stale_state',
];

export class Sender {
  /**
   * @param {object} parts
   * @param {Store} parts.store
   * @param {Calls} parts.calls
   * @param {import('./clock.js').ServiceClock} parts.clock
   * @param {string} parts.owner whose scans are sent: company and id of the user
   * @param {() => string} parts.newKey
   * @param {() => void} [parts.changed] called after each change of a scan
   */
  constructor({ store, calls, clock, owner, newKey, changed = () => undefined }) {
    this.store = store;
    this.calls = calls;
    this.clock = clock;
    this.owner = owner;
    this.newKey = newKey;
    this.changed = changed;
    /** Whether this run has seen the service take the token that says the time. */
    this.isTimeSure = false;
    /** What the service said when it served the company no longer. */
    this.notice = '';
  }

  /**
   * Send what waits. A refused scan, and one that the service cannot answer, stop the scans of their
   * task behind them, and no others. Only one page of a device may do this at a time.
   *
   * @returns {Promise<Outcome>}
   */
  async run() {
    /** @type {Set<string>} tasks whose next scan has no answer */
    const held = new Set();
    this.isTimeSure = false;
    for (let scan = await this.#next(held); scan; scan = await this.#next(held)) {
      try {
        await this.#send(scan);
      } catch (error) {
        const ended = outcomeOf(error);
        if (ended !== null) {
          this.notice = error instanceof Refusal ? error.message : '';
          return ended;
        }
        if (error instanceof DOMException) {
          throw error; // of the storage
        }
        if (error instanceof Refusal && isUnjudged(error)) {
          held.add(scan.task);
          continue;
        }
        await this.#refuse(scan, error);
      }
      this.changed();
    }
    return held.size > 0 ? 'unanswered' : 'sent';
  }

  /**
   * @param {ReadonlySet<string>} held tasks that wait
   * @returns {Promise<Scan | undefined>} the next scan that may be sent
   */
  async #next(held) {
    const scans = await this.store.scans(this.owner);
    const stopped = new Set(scans.filter(({ status }) => status === 'refused').map(({ task }) => task));
    return scans.find(({ status, task }) => status === 'waiting' && !stopped.has(task) && !held.has(task));
  }

  /** @param {Scan} scan */
  async #send(scan) {
    if (scan.sentAt !== null && !this.isTimeSure) {
      await this.#ensureTime();
    }
    const time = await this.clock.now();
    if (scan.sentAt !== null && time - scan.sentAt > KEY_LIFETIME) {
      await this.#check(scan);
      return;
    }
    const path = subjectOf(scan.request);
    const task = await this.store.task(this.owner, scan.task);
    const etag = task?.etags[path ?? ''] ?? null;
    // Kept before it is sent, so that it is known after a death that an answer may be missing.
    const sent = await this.#changeWaiting(
      scan,
      (kept) => ({ ...kept, ...(kept.sentAt === null ? { sentAt: time, etag } : {}) }),
      (kept) => ({ ...kept, changes: kept.changes + 1 }),
    );
    if (sent === null) {
      return; // withdrawn meanwhile
    }
    const { operation, parameters, body } = sent.request;
    const answer = await this.calls.write(/** @type {any} */ (operation), {
      key: sent.key,
      parameters,
      body: /** @type {any} */ (Object.keys(body).length ? body : undefined),
    });
    // What stands in a part of the task, such as a handling unit, shows in the task, too.
    const whole = path === null || path === scan.task ? null : await this.#readIfShown(scan.task);
    await this.store.change(
      sent.number,
      (kept) => (kept.key === sent.key ? { ...kept, status: 'done' } : null),
      (kept) => {
        const changed = path === null ? kept : withAnswer(kept, path, answer);
        return whole === null ? changed : withAnswer(changed, kept.id, whole);
      },
    );
  }

  /**
   * Have an old token refused before a request is repeated, not with it: it would be sent again with a key
   * that the service may have forgotten, when the device slept, and its clock was set back.
   */
  async #ensureTime() {
    await this.calls.read('GET /warehouses', { query: { per_page: 1 } }).catch((error) => {
      if (!(error instanceof Refusal) || error.status !== 403 || outcomeOf(error) !== null) {
        throw error;
      }
    });
    this.isTimeSure = true;
  }

  /**
   * Decide about a request without an answer whose key the service may have forgotten: what has not
   * changed since was not changed by it either. Otherwise people decide.
   *
   * @param {Scan} scan
   */
  async #check(scan) {
    const path = subjectOf(scan.request);
    const found = path !== null && scan.etag !== null ? await this.#read(path) : null;
    const isUnchanged = found !== null && found.etag === scan.etag;
    const trouble = { code: 'unknown', message: '', problems: [] };
    await this.#changeWaiting(scan, (kept) =>
      isUnchanged
        ? { ...kept, key: this.newKey(), sentAt: null, etag: null }
        : { ...kept, status: 'refused', trouble },
    );
  }

  /**
   * Change a scan that still waits with the same key: another page, or a decision, may have been faster.
   *
   * @param {Scan} scan
   * @param {(scan: Scan) => Scan} change
   * @param {(task: import('./store.js').Task) => import('./store.js').Task} [changeTask]
   */
  async #changeWaiting({ number, key }, change, changeTask) {
    const ifWaiting = (/** @type {Scan} */ kept) => {
      return kept.status === 'waiting' && kept.key === key ? change(kept) : null;
    };
    return this.store.change(number, ifWaiting, changeTask);
  }

  /** @param {string} path such as `pickings/12` */
  async #read(path) {
    const [kind = '', id = ''] = path.split('/');
    return this.calls.read(/** @type {any} */ (`GET /${kind}/{id}`), { parameters: { id } });
  }

  /**
   * Read a task after a request that was carried out: a refusal of this is none of that.
   *
   * @param {string} path
   */
  async #readIfShown(path) {
    return this.#read(path).catch((error) => {
      if (error instanceof Refusal && !isUnknown(error)) {
        return null;
      }
      throw error;
    });
  }

  /**
   * @param {Scan} scan
   * @param {unknown} error
   */
  async #refuse(scan, error) {
    const trouble = troubleOf(error);
    const date = error instanceof Refusal ? error.date : null;
    await this.#changeWaiting(
      scan,
      (kept) => ({ ...kept, status: 'refused', trouble }),
      (kept) => withTime(kept, date),
    );
  }

  /**
   * Carry out what somebody decided about a refused scan. What would take it back shares its fate:
   * alone it would take back another one.
   *
   * @param {Scan} scan
   * @param {'again' | 'skip' | 'leave'} decision
   */
  async decide({ number, key }, decision) {
    const own = await this.store.scans(this.owner);
    const [undo] = decision === 'again' ? [] : own.filter(({ undoes }) => undoes === number);
    if (undo) {
      await this.store.change(undo.number, (kept) =>
        kept.status === 'done' ? null : decision === 'skip' ? 'remove' : { ...kept, status: 'left' },
      );
    }
    await this.store.change(number, (kept) => {
      if (kept.key !== key || !['refused', 'left'].includes(kept.status)) {
        return null; // decided in another tab
      }
      if (decision === 'skip') {
        return 'remove';
      }
      if (decision === 'leave') {
        return { ...kept, status: 'left' };
      }
      const isNew = REPEATED.includes(kept.trouble?.code ?? '') || kept.trouble?.code === 'unknown';
      const fresh = isNew ? { key: this.newKey(), sentAt: null, etag: null } : {};
      return { ...kept, ...fresh, status: 'waiting', trouble: null };
    });
    this.changed();
  }

  /**
   * Take a scan back that was not sent yet.
   *
   * @param {Scan} scan
   * @returns {Promise<boolean>} whether it is gone; otherwise it may have been carried out
   */
  async withdraw({ number }) {
    const isFree = (/** @type {Scan} */ scan) => scan.status === 'waiting' && scan.sentAt === null;
    return (await this.store.change(number, (scan) => (isFree(scan) ? 'remove' : null))) !== null;
  }
}

/**
 * @param {unknown} error
 * @returns {Outcome | null} how sending ends with it; null if it says something of one scan or task
 */
function outcomeOf(error) {
  if (error instanceof SessionEnded) {
    return 'ended';
  }
  if (!(error instanceof Refusal)) {
    return isUnknown(error) ? 'unanswered' : null;
  }
  const { code, message, status } = error;
  if (code === 'feature_not_in_plan' && error.error['feature'] === INTERFACE) {
    return 'suspended';
  }
  if (code === 'forbidden' && message === OF_FIREWALL) {
    return 'limited';
  }
  return OF_COMPANY.get(code) ?? (status === 401 ? 'unanswered' : null);
}

/**
 * @param {Refusal} refusal
 * @returns {boolean} whether the service has not decided: it failed, or something before it answered
 */
const isUnjudged = (refusal) => isUnknown(refusal) || refusal.code === `http_${refusal.status}`;

/**
 * @param {unknown} error a refusal, or a fault of this program, which must not stop what stands behind
 * @returns {import('./store.js').Trouble}
 */
function troubleOf(error) {
  if (error instanceof Refusal) {
    const { code, message, problems } = error;
    return { code, message, problems };
  }
  return { code: 'broken', message: String(error), problems: [] };
}

/**
 * Return the path of what a request changes, as `pickings/12`; null if it creates something.
 *
 * @param {import('./store.js').Request} request
 */
export function subjectOf({ operation, parameters }) {
  const [, kind] = /^\w+ \/([a-z-]+)\/\{id\}/.exec(operation) ?? [];
  return kind === undefined ? null : `${kind}/${parameters['id']}`;
}

/**
 * Return a task with what an answer shows: a resource, with or without its lines, or lines of it.
 *
 * @param {import('./store.js').Task} task
 * @param {string} path of what is shown
 * @param {{body: any, etag: string | null, date?: string | null}} answer
 * @returns {import('./store.js').Task}
 */
export function withAnswer(task, path, { body: { data }, etag, date }) {
  const { [path]: _, ...others } = task.etags;
  const etags = etag === null ? others : { ...others, [path]: etag };
  const before = task.resources[path];
  const isPart = data.id === undefined;
  const lines = isPart ? joinedLines(before.lines, data.lines) : (data.lines ?? before?.lines);
  const resources = { ...task.resources, [path]: { ...before, ...data, lines } };
  return withTime({ ...task, etags, resources, changes: task.changes + 1 }, date);
}

/**
 * Return a task with what an answer says of the clock of the device, which may be set while it lasts.
 *
 * @param {import('./store.js').Task} task
 * @param {string | null | undefined} date
 * @returns {import('./store.js').Task}
 */
const withTime = (task, date) => (date ? { ...task, ahead: aheadOf(date) } : task);

/**
 * @param {any[]} before
 * @param {any[]} changed also new ones
 */
function joinedLines(before, changed) {
  return [...new Map([...before, ...changed].map((line) => [line.line_num, line])).values()];
}

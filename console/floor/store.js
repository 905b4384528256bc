/**
 * What the floor keeps on the device: the tasks that somebody took, with what they need without a
 * network, and the scans with their requests. A scan is here before anything else happens with it.
 */

import { openDB } from '../vendor/idb.js';

/**
 * @typedef {import('../core/calls.js').Parameters} Parameters
 * @typedef {import('../core/refusal.js').Problem} Problem
 */

/**
 * @typedef {object} Request what a scan asks of the service
 * @property {string} operation such as `POST /pickings/{id}/picks`
 * @property {Parameters} parameters
 * @property {Record<string, unknown>} body
 */

/**
 * @typedef {object} Trouble why a scan waits for a decision
 * @property {string} code of the refusal; `broken`: the request could not be made; `unknown`: the service has forgotten the key of a request
 *   that had no answer, and the task has changed since
 * @property {string} message
 * @property {Problem[]} problems
 */

/**
 * @typedef {object} Scan
 * @property {number} number order of the scans of this device, from 1
 * @property {string} owner whose scan it is: company and id of the user
 * @property {string} task id of its task
 * @property {string} text what people read of it
 * @property {string} key Idempotency-Key of its request
 * @property {Request} request
 * @property {import('./steps.js').Effect | null} effect what it adds to the lines of its task
 * @property {number | null} undoes number of the scan that it takes back
 * @property {boolean} isEnd whether it ends its task
 * @property {'waiting' | 'refused' | 'left' | 'done'} status `refused`: a decision is needed;
 *   `left`: left to the supervisor
 * @property {number | null} sentAt when the request was sent first with this key, in milliseconds of
 *   the clock of the service; null before
 * @property {string | null} etag ETag that was known then of what the request changes
 * @property {Trouble | null} trouble
 */

/**
 * @typedef {object} Task
 * @property {string} id kind and number, such as `pickings/12`
 * @property {string} owner
 * @property {Record<string, any>} resources path, such as `pickings/12` → what the service showed of
 *   it last; that of the id is the task itself
 * @property {Record<string, string>} etags path → ETag of what it showed, if it gave one
 * @property {string | null} warehouse code
 * @property {number} changes how often a scan of it was sent or answered: what was read before is old
 * @property {number} [ahead] milliseconds by which the clock of the device was ahead of that of the
 *   service when it last answered
 * @property {import('./goods.js').Goods} goods
 * @property {'none' | 'position' | 'batch' | 'any'} [substitution] what may be picked instead of what
 *   the lines name
 * @property {(import('./steps.js').Effect & {text: string})[]} [scanned] lines of a task that one
 *   request carries out, as long as not all of them are scanned
 */

/** @typedef {import('../vendor/idb.js').IDBPDatabase<any>} Database */

const VERSION = 1;

/**
 * @param {Pick<import('../core/session.js').SignedIn, 'tenant' | 'userId'>} user
 * @returns {string} as scans and tasks name their owner
 */
export const ownerOf = ({ tenant, userId }) => `${tenant}/${userId}`;

/** How many scans of a task are kept after they are done: so many can be undone. */
const KEPT = 20;

/** A scan is written to the disk before it counts. */
const DURABLE = /** @type {const} */ ({ durability: 'strict' });

export class Store {
  /**
   * Open the database of this device.
   *
   * @throws {DOMException} the browser refuses storage
   */
  static async open() {
    return new Store(
      await openDB('stowage.floor', VERSION, {
        upgrade(database) {
          database.createObjectStore('tasks', { keyPath: ['owner', 'id'] });
          const scans = database.createObjectStore('scans', {
            keyPath: 'number',
            autoIncrement: true,
          });
          scans.createIndex('owner', 'owner');
          database.createObjectStore('device');
        },
        // a newer release waits until no tab has the old one open
        blocking: (_current, _blocked, event) => /** @type {any} */ (event.target).close(),
      }),
    );
  }

  /** @param {Database} database */
  constructor(database) {
    this.database = database;
  }

  /**
   * Keep a new scan. It is safe once this is answered.
   *
   * @param {Omit<Scan, 'number' | 'status' | 'sentAt' | 'etag' | 'trouble'>} scan
   * @returns {Promise<Scan>}
   * @throws {DOMException} the storage is full
   */
  async add(scan) {
    const added = { ...scan, status: 'waiting', sentAt: null, etag: null, trouble: null };
    const transaction = this.database.transaction('scans', 'readwrite', DURABLE);
    const [number] = await Promise.all([transaction.store.add(added), transaction.done]);
    return /** @type {Scan} */ ({ ...added, number });
  }

  /**
   * @param {string} owner
   * @returns {Promise<Scan[]>} all scans that the device has of a user, in their order
   */
  async scans(owner) {
    return this.database.getAllFromIndex('scans', 'owner', owner);
  }

  /**
   * @returns {Promise<Scan[]>} the scans of everybody that are not done
   */
  async pending() {
    const all = /** @type {Scan[]} */ (await this.database.getAll('scans'));
    return all.filter((scan) => scan.status !== 'done');
  }

  /**
   * Change a scan, if it is still as the change needs it.
   *
   * @param {number} number
   * @param {(scan: Scan) => Scan | 'remove' | null} change null leaves it as it is
   * @param {(task: Task) => Task} [changeTask] what changes of its task with it
   * @returns {Promise<Scan | null>} as changed; null if it was not
   */
  async change(number, change, changeTask) {
    const transaction = this.database.transaction(['scans', 'tasks'], 'readwrite', DURABLE);
    const scans = transaction.objectStore('scans');
    const scan = /** @type {Scan | undefined} */ (await scans.get(number));
    const changed = scan ? change(scan) : null;
    if (changed === 'remove') {
      await scans.delete(number);
    } else if (changed !== null) {
      await scans.put(changed);
      const tasks = transaction.objectStore('tasks');
      const task = changeTask && (await tasks.get([changed.owner, changed.task]));
      if (task) {
        await tasks.put(changeTask(task));
      }
    }
    await transaction.done;
    return changed === 'remove' ? (scan ?? null) : changed;
  }

  /**
   * Put a task on the device, unless it is there: lines of it may be scanned, and a page that takes it
   * twice gets the two answers in any order.
   *
   * @param {Task} task
   */
  async keepTask(task) {
    const transaction = this.database.transaction('tasks', 'readwrite', DURABLE);
    const kept = await transaction.store.get([task.owner, task.id]);
    await (kept ?? transaction.store.put(task));
    await transaction.done;
  }

  /**
   * @param {string} owner
   * @param {string} id
   * @param {(task: Task) => Task} change
   * @returns {Promise<Task | undefined>} as changed; undefined if the device has no such task
   */
  async changeTask(owner, id, change) {
    const transaction = this.database.transaction('tasks', 'readwrite', DURABLE);
    const kept = await transaction.store.get([owner, id]);
    const changed = kept && change(kept);
    await (changed && transaction.store.put(changed));
    await transaction.done;
    return changed;
  }

  /**
   * @param {string} owner
   * @param {string} id
   * @returns {Promise<Task | undefined>}
   */
  async task(owner, id) {
    return this.database.get('tasks', [owner, id]);
  }

  /**
   * @param {string} owner
   * @returns {Promise<Task[]>}
   */
  async tasks(owner) {
    return this.database.getAll('tasks', IDBKeyRange.bound([owner], [owner, []]));
  }

  /**
   * Forget a task and its scans, unless one of them is not done.
   *
   * @param {string} owner
   * @param {string} id
   * @param {boolean} [keepsLines] whether it stays with lines that no request has carried out yet
   * @returns {Promise<boolean>} whether it is forgotten
   */
  async forget(owner, id, keepsLines = false) {
    const transaction = this.database.transaction(['scans', 'tasks'], 'readwrite');
    const scans = transaction.objectStore('scans');
    const all = /** @type {Scan[]} */ (await scans.index('owner').getAll(owner));
    const own = all.filter((scan) => scan.task === id);
    const tasks = transaction.objectStore('tasks');
    const { scanned = [] } = /** @type {Partial<Task>} */ ((await tasks.get([owner, id])) ?? {});
    const isLeft = keepsLines && own.length === 0 && scanned.length > 0;
    const isDone = own.every((scan) => scan.status === 'done') && !isLeft;
    if (isDone) {
      await Promise.all(own.map((scan) => scans.delete(scan.number)));
      await tasks.delete([owner, id]);
    }
    await transaction.done;
    return isDone;
  }

  /**
   * Discard scans of somebody that are not done, and their tasks if no other scan needs them.
   *
   * @param {string} owner
   * @param {readonly number[]} numbers
   */
  async discard(owner, numbers) {
    for (const number of numbers) {
      const isOpen = (/** @type {Scan} */ scan) => scan.owner === owner && scan.status !== 'done';
      const discarded = await this.change(number, (scan) => (isOpen(scan) ? 'remove' : null));
      await (discarded && this.forget(owner, discarded.task));
    }
  }

  /**
   * Forget the scans that were done long ago. Moves by hand have no end at which all are forgotten.
   *
   * @param {string} owner
   */
  async trim(owner) {
    const done = (await this.scans(owner)).filter(({ status }) => status === 'done');
    const latest = new Map();
    for (const { task, number } of done.toReversed()) {
      latest.set(task, [...(latest.get(task) ?? []), number]);
    }
    const old = [...latest.values()].flatMap((numbers) => numbers.slice(KEPT));
    const transaction = this.database.transaction('scans', 'readwrite');
    await Promise.all([...old.map((number) => transaction.store.delete(number)), transaction.done]);
  }

  /**
   * Forget the tasks of somebody who leaves, except those with scans or lines that are not done.
   *
   * @param {string} owner
   */
  async forgetDone(owner) {
    for (const { id } of await this.tasks(owner)) {
      await this.forget(owner, id, true);
    }
  }

  /**
   * @param {string} name
   * @returns {Promise<any>} what the device keeps under a name; undefined if nothing
   */
  async kept(name) {
    return this.database.get('device', name);
  }

  /**
   * @param {string} name
   * @param {unknown} value undefined removes it
   */
  async keep(name, value) {
    await (value === undefined
      ? this.database.delete('device', name)
      : this.database.put('device', value, name));
  }
}

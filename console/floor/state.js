/** What the screens of the floor share: who works at the device, its scans, and what became of them. */

import { browser, calls, CONSOLE, session } from '../core/app.js';
import { useStorage } from '../core/browser.js';
import { isUnknown, Outdated } from '../core/refusal.js';
import { forgetFilters } from '../core/remembered.js';
import { STORED, TAB } from '../core/session.js';
import { imported } from '../core/use.js';
import { timeZone } from '../core/zone.js';
import { batch, computed, signal } from '../vendor/signals-core.js';
import { ownerOf, Store } from './store.js';
import { Vault } from './vault.js';

/**
 * @typedef {import('../core/session.js').SignedIn} SignedIn
 * @typedef {import('./store.js').Scan} Scan
 * @typedef {import('./store.js').Task} Task
 */

/** @type {Store} */
export let store;
/** @type {Vault} */
export let vault;

/** Who works at the device; null while it is locked or nobody is signed in. */
export const worker = signal(/** @type {SignedIn | null} */ (null));

/** The scans of that person which the device still has, in their order. */
export const scans = signal(/** @type {readonly Scan[]} */ ([]));

/** Scans of everybody at this device that are not done. */
export const pending = signal(/** @type {readonly Scan[]} */ ([]));

/** Tasks on the device. */
export const tasks = signal(/** @type {readonly Task[]} */ ([]));

/** How sending ended last. */
export const outcome = signal(/** @type {import('./sender.js').Outcome | 'outdated'} */ ('sent'));

/** What the service said about the company when sending ended last. */
export const notice = signal('');

/** Whether the floor was opened in another tab since, which has taken over. */
export const isElsewhere = signal(false);

export const waiting = computed(() => scans.value.filter(({ status }) => status === 'waiting'));
export const decisions = computed(() =>
  scans.value.filter(({ status }) => status === 'refused' || status === 'left'),
);

/** Name of the lock of the page that sends. */
const LOCK = 'stowage.floor';

/** Waits between attempts to send while there is no answer, in milliseconds. */
const PAUSES = [1000, 2000, 5000, 10_000, 30_000];

/**
 * Keep the refresh token in memory: the vault has it for the next page. That of a tab of the console
 * moves here, because it works only once.
 */
export function holdSession() {
  const held = new Map();
  const found = sessionStorage.getItem(STORED);
  sessionStorage.removeItem(STORED);
  useStorage({
    getItem: (name) => held.get(name) ?? null,
    setItem: (name, value) => void held.set(name, value),
    removeItem: (name) => void held.delete(name),
  });
  if (found !== null) {
    held.set(STORED, found);
  }
}

/** Milliseconds between two attempts to continue a session without a network. */
const ATTEMPT = 10_000;

/**
 * Continue the session that an earlier page of the tab left. Without a network that is tried again until
 * there is one, unless somebody signs in.
 *
 * @returns {Promise<unknown>} null, or why it does not continue yet
 */
export async function continueSession() {
  const error = await session.renew().then(() => null, (reason) => reason);
  if (isUnknown(error)) {
    const timer = setTimeout(again, ATTEMPT);
    addEventListener('online', again);
    function again() {
      clearTimeout(timer);
      removeEventListener('online', again);
      void (session.user.value === null && session.canContinue && continueSession());
    }
  }
  return error;
}

/**
 * Leave the session to the next page of the tab, which is loaded now, unless a PIN opens it there. The
 * console takes a session only from a tab with a name.
 */
export function handOver() {
  const token = browser.storage.getItem(STORED);
  if (token !== null && !vault.isOpen) {
    sessionStorage.setItem(STORED, token);
    sessionStorage.setItem(TAB, sessionStorage.getItem(TAB) ?? browser.newKey());
  }
}

/** Milliseconds after which a request has no answer: the service gives none later. */
const LONGEST = 35_000;

/** End requests that hang, as they do where the network is weak. */
export function boundRequests() {
  browser.fetch = (input, init = {}) => {
    const signals = [AbortSignal.timeout(LONGEST), ...(init.signal ? [init.signal] : [])];
    return globalThis.fetch(input, { ...init, signal: AbortSignal.any(signals) });
  };
}

/**
 * Open the database of the device, and become the only page that sends. A page that had the floor open
 * is told and stops.
 *
 * @throws {DOMException} the browser refuses storage
 */
export async function openFloor() {
  store = await Store.open();
  void navigator.storage.persist?.(); // or browsers remove what is kept when the disk is full
  vault = new Vault(store);
  await new Promise((resolve) => {
    navigator.locks
      .request(LOCK, { steal: true }, () => {
        resolve(undefined);
        return new Promise(() => undefined);
      })
      .catch(() => {
        isElsewhere.value = true;
      });
  });
  await reload();
}

/** Read what the device has again, after a change. Scans and tasks are of the same moment. */
export async function reload() {
  const user = worker.value;
  const owner = user && ownerOf(user);
  const [everybodys, own, taken] = await Promise.all([
    store.pending(),
    owner ? store.scans(owner) : [],
    owner ? store.tasks(owner) : [],
  ]);
  batch(() => {
    pending.value = everybodys;
    scans.value = own;
    tasks.value = taken;
  });
}

/** @returns {Date} the day on which the session was renewed last, whatever day the device believes it is */
export function today() {
  return new Date((session.user.value?.issuedAt ?? 0) * 1000);
}

/** What the modules of the floor need to call and to keep. */
export function parts() {
  const user = worker.value;
  if (user === null) {
    throw new TypeError('nobody works at the device');
  }
  return { store, calls, owner: ownerOf(user) };
}

/** @returns {Promise<import('./sender.js').Sender>} of the person who works at the device */
export async function sender() {
  const shared = parts(); // before anything is awaited: the person may leave meanwhile
  const [{ Sender }, { ServiceClock }] = await imported(() =>
    Promise.all([import('./sender.js'), import('./clock.js')]),
  );
  const clock = new ServiceClock(session, browser);
  return new Sender({ ...shared, clock, newKey: browser.newKey, changed: () => void reload() });
}

/**
 * @param {SignedIn} user
 * @returns {boolean} whether nobody else signed in when the session of this user had ended
 */
function isSessionOf(user) {
  return session.user.value !== null && ownerOf(session.user.value) === ownerOf(user);
}

/** @type {() => void} */
let wake = () => undefined;

/**
 * Send what waits as long as this person works here; called at the sign-in.
 *
 * @param {SignedIn} user
 */
async function keepSending(user) {
  /** @type {import('./sender.js').Sender | null} */
  let own = null;
  for (let failures = 0; worker.value === user && !isElsewhere.value && isSessionOf(user); ) {
    const ended = await (own === null ? sender() : Promise.resolve(own)).then(
      async (found) => {
        own = found;
        return found.run().catch((error) => {
          reportError(error); // such as a storage that is full: what waits is tried again
          return /** @type {const} */ ('unkept');
        });
      },
      // its modules are loaded with a network only, until the worker of the browser has them
      (error) => (error instanceof Outdated ? /** @type {const} */ ('outdated') : /** @type {const} */ ('unanswered')),
    );
    batch(() => {
      outcome.value = ended;
      notice.value = own?.notice ?? '';
    });
    failures = outcome.value === 'sent' ? 0 : failures + 1;
    const pause = PAUSES[Math.min(failures, PAUSES.length) - 1] ?? 60_000;
    await new Promise((resolve) => {
      wake = () => resolve(undefined);
      setTimeout(wake, pause);
    });
  }
}

/** Send now: something new waits, or there is a network again. */
export function sendNow() {
  wake();
}

addEventListener('online', sendNow);

/**
 * Begin the work of a person.
 *
 * @param {SignedIn} user
 */
export async function begin(user) {
  worker.value = user;
  void store.trim(ownerOf(user)).catch(reportError);
  await reload();
  void keepSending(user);
}

/** Keep the session behind the PIN from now on, as it is and after every renewal. */
export async function keepSession() {
  const token = browser.storage.getItem(STORED);
  const user = session.user.value;
  if (token !== null && user !== null) {
    await vault.seal(token, user, timeZone.value);
  }
}

/** Every new refresh token goes to the vault; what has no PIN stays in the tab. */
export function followSession() {
  session.user.subscribe(() => void keepSession());
}

/**
 * Open the session with a PIN, also without a network.
 *
 * @param {string} pin
 * @returns {Promise<number | null>} null: it is open; or how many attempts are left
 */
export async function unlock(pin) {
  const opened = await vault.open(pin);
  if (typeof opened === 'number') {
    return opened;
  }
  browser.storage.setItem(STORED, opened.token);
  timeZone.value = opened.timeZone;
  session.user.value = opened.user;
  await begin(opened.user);
  return null;
}

/** Lock the device: the PIN opens it again. Nothing is sent meanwhile. */
export function lock() {
  worker.value = null;
  location.reload();
}

/** End the session here and at the service. Only scans that are not done, and their tasks, stay. */
export async function leave() {
  const user = worker.value ?? (await vault.sealed())?.user;
  worker.value = null;
  if (user) {
    await store.forgetDone(ownerOf(user));
    forgetFilters(localStorage, `${user.userId}@${user.tenant}`);
  }
  await vault.forget();
  await session.signOut();
  location.assign(`${CONSOLE}floor/`);
}

/** Forget the tasks whose end was carried out while another screen was shown. */
export async function forgetEnded() {
  const ended = scans.value.filter(({ isEnd, status }) => isEnd && status === 'done');
  if (ended.length > 0) {
    await Promise.all(ended.map(({ owner, task }) => store.forget(owner, task)));
    await reload();
  }
}

/**
 * Keep a new scan and send it.
 *
 * @param {Pick<Scan, 'task' | 'text' | 'request'> & Partial<Scan>} scan
 * @throws {DOMException} the storage is full
 */
export async function record(scan) {
  const none = { effect: null, undoes: null, isEnd: false };
  await store.add({ ...none, ...scan, owner: parts().owner, key: browser.newKey() });
  await showKept();
  sendNow();
}

/** Show what is kept. That it is kept is no matter of showing it: who hears otherwise scans again. */
export async function showKept() {
  await reload().catch(reportError);
}

/**
 * The parts of the browser that calls use. Tests replace them.
 *
 * @typedef {object} Browser
 * @property {typeof globalThis.fetch} fetch
 * @property {(milliseconds: number) => Promise<void>} wait
 * @property {() => number} now milliseconds since the epoch
 * @property {() => number} random from 0 to 1
 * @property {() => string} newKey a new Idempotency-Key
 * @property {(name: string) => Promise<boolean>} hold hold a name as long as the page lives; false
 *   if another page holds it
 * @property {(name: string, onMessage: (message: any) => void) => (message: object) => void} channel
 *   return a function that sends a message to all other pages of the address with this channel
 * @property {Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>} storage of this tab
 */

/** Milliseconds for which a page that the tab has left may still hold a name. */
const LEAVING = 1000;

/** @type {Browser['storage'] | null} */
let ownStorage = null;

/**
 * Use another storage than that of the tab from now on.
 *
 * @param {Browser['storage']} storage
 */
export function useStorage(storage) {
  ownStorage = storage;
}

/** @type {Browser} */
export const browser = {
  fetch: (input, init) => globalThis.fetch(input, init),
  wait: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
  now: () => Date.now(),
  random: () => Math.random(),
  newKey: () => crypto.randomUUID(),
  hold: (name) =>
    new Promise((resolve) => {
      const held = () => {
        resolve(true);
        return new Promise(() => undefined);
      };
      const signal = AbortSignal.timeout(LEAVING);
      navigator.locks.request(name, { signal }, held).catch(() => resolve(false));
    }),
  channel: (name, onMessage) => {
    const channel = new BroadcastChannel(name);
    channel.onmessage = ({ data }) => onMessage(data);
    return (message) => channel.postMessage(message);
  },
  get storage() {
    return ownStorage ?? globalThis.sessionStorage;
  },
};

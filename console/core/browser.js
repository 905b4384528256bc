/**
 * The parts of the browser that calls use. Tests replace them.
 *
 * @typedef {object} Browser
 * @property {typeof globalThis.fetch} fetch
 * @property {(milliseconds: number) => Promise<void>} wait
 * @property {() => number} now milliseconds since the epoch
 * @property {() => number} random from 0 to 1
 * @property {() => string} newKey a new Idempotency-Key
 * @property {Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>} storage of this tab
 */

/** @type {Browser} */
export const browser = {
  fetch: (input, init) => globalThis.fetch(input, init),
  wait: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
  now: () => Date.now(),
  random: () => Math.random(),
  newKey: () => crypto.randomUUID(),
  get storage() {
    return globalThis.sessionStorage;
  },
};

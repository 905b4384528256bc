/**
 * Keeps a session on the device for a shift, behind a PIN. The refresh token is encrypted with a key
 * that needs both the PIN and a key that only this browser can use, so a copy of the database is of no
 * use elsewhere. After five wrong PINs it is gone, and the person signs in with the password.
 *
 * What this does not do: somebody who controls the browser itself while it is locked can try all PINs,
 * which the derivation of the key makes slow (a fifth of a second each), but not impossible: the threat
 * model says what to do then.
 */

import { ownerOf } from './store.js';

/**
 * @typedef {import('../core/session.js').SignedIn} SignedIn
 * @typedef {import('./store.js').Store} Store
 */

/**
 * @typedef {object} Sealed
 * @property {Omit<SignedIn, 'permissions'> & {permissions: string[]}} user
 * @property {string | undefined} timeZone
 * @property {CryptoKey} deviceKey not extractable
 * @property {Uint8Array<ArrayBuffer>} salt
 * @property {Uint8Array<ArrayBuffer>} nonce
 * @property {ArrayBuffer} content
 */

const SEALED = 'session';
const FAILURES = 'failures';

/** Wrong PINs after which the session is forgotten. */
export const ATTEMPTS = 5;

const ROUNDS = 600_000;

const AES = { name: 'AES-GCM', length: 256 };

export class Vault {
  /** @type {CryptoKey | null} that of the PIN, while the session is open */
  #pinKey = null;
  #salt = new Uint8Array();
  /** Whose PIN it is: nobody else's session is kept behind it. */
  #owner = '';

  /** @param {Store} store */
  constructor(store) {
    this.store = store;
  }

  /** Whether a PIN opens the session again. */
  get isOpen() {
    return this.#pinKey !== null;
  }

  /** @returns {Promise<Sealed | undefined>} what is known before the PIN: whose session it is */
  async sealed() {
    return this.store.kept(SEALED);
  }

  /**
   * Use a PIN from now on.
   *
   * @param {string} pin six digits
   * @param {SignedIn} user whose PIN it is
   */
  async choose(pin, user) {
    this.#owner = ownerOf(user);
    this.#salt = crypto.getRandomValues(new Uint8Array(16));
    this.#pinKey = await keyOf(pin, this.#salt);
    await this.store.keep(FAILURES, undefined);
  }

  /**
   * Keep a session, or its next refresh token.
   *
   * @param {string} token
   * @param {SignedIn} user
   * @param {string | undefined} timeZone of the company
   */
  async seal(token, user, timeZone) {
    if (this.#pinKey === null || ownerOf(user) !== this.#owner) {
      return;
    }
    const sealed = await this.sealed();
    const deviceKey =
      sealed?.deviceKey ?? (await crypto.subtle.generateKey(AES, false, ['encrypt', 'decrypt']));
    const nonce = crypto.getRandomValues(new Uint8Array(12));
    const inner = await encrypted(this.#pinKey, nonce, new TextEncoder().encode(token));
    const content = await encrypted(deviceKey, nonce, inner);
    const named = { ...user, permissions: [...user.permissions] };
    const kept = { user: named, timeZone, deviceKey, salt: this.#salt, nonce, content };
    await this.store.keep(SEALED, kept);
  }

  /**
   * Open the session with a PIN.
   *
   * @param {string} pin
   * @returns {Promise<{token: string, user: SignedIn, timeZone: string | undefined} | number>} or how
   *   many attempts are left; 0: the session is forgotten
   */
  async open(pin) {
    const sealed = await this.sealed();
    if (sealed === undefined) {
      return 0;
    }
    // Counted before it is tried: a page that is closed in time does not get attempts for nothing.
    const failures = ((await this.store.kept(FAILURES)) ?? 0) + 1;
    await this.store.keep(FAILURES, failures);
    const pinKey = await keyOf(pin, sealed.salt);
    try {
      const inner = await decrypted(sealed.deviceKey, sealed.nonce, sealed.content);
      const token = new TextDecoder().decode(await decrypted(pinKey, sealed.nonce, inner));
      this.#pinKey = pinKey;
      this.#salt = sealed.salt;
      this.#owner = ownerOf(sealed.user);
      await this.store.keep(FAILURES, undefined);
      const user = { ...sealed.user, permissions: new Set(sealed.user.permissions) };
      return { token, user, timeZone: sealed.timeZone };
    } catch (error) {
      if (!(error instanceof DOMException)) {
        throw error;
      }
      if (failures >= ATTEMPTS) {
        await this.forget();
      }
      return Math.max(ATTEMPTS - failures, 0);
    }
  }

  /** Forget the session; scans stay. */
  async forget() {
    this.#pinKey = null;
    await this.store.keep(SEALED, undefined);
    await this.store.keep(FAILURES, undefined);
  }
}

/**
 * @param {string} pin
 * @param {Uint8Array<ArrayBuffer>} salt
 */
async function keyOf(pin, salt) {
  const material = await crypto.subtle.importKey('raw', new TextEncoder().encode(pin), 'PBKDF2', false, [
    'deriveKey',
  ]);
  const way = { name: 'PBKDF2', hash: 'SHA-256', salt, iterations: ROUNDS };
  return crypto.subtle.deriveKey(way, material, AES, false, ['encrypt', 'decrypt']);
}

/**
 * @param {CryptoKey} key
 * @param {Uint8Array<ArrayBuffer>} iv
 * @param {BufferSource} content
 */
const encrypted = (key, iv, content) => crypto.subtle.encrypt({ name: 'AES-GCM', iv }, key, content);

/**
 * @param {CryptoKey} key
 * @param {Uint8Array<ArrayBuffer>} iv
 * @param {BufferSource} content
 */
const decrypted = (key, iv, content) => crypto.subtle.decrypt({ name: 'AES-GCM', iv }, key, content);

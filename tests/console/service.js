/** A service of the tests: it answers requests in turn and keeps what came. */

import { Session } from '../../console/core/session.js';

/** @typedef {{url: string, method: string, headers: Record<string, string>, body: string}} Sent */

/**
 * @param {object} claims
 * @returns {string} an access token that says so, without a signature
 */
export function tokenOf(claims) {
  return `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.c2ln`;
}

const CLAIMS = {
  sub: '7', tenant: 'acme', permissions: 'exits.manage', second_factor: true, iat: 1_800_000_000,
};

/**
 * @param {string} refresh
 * @param {object} [claims]
 */
export function granted(refresh, claims = {}) {
  const token = tokenOf({ ...CLAIMS, ...claims, refresh });
  const timezone = 'Europe/Madrid';
  return answer(200, { access_token: token, refresh_token: refresh, expires_in: 3600, timezone });
}

/**
 * @param {number} status
 * @param {unknown} [body]
 * @param {Record<string, string>} [headers]
 */
export function answer(status, body, headers = {}) {
  return new Response(body === undefined ? null : JSON.stringify(body), { status, headers });
}

/**
 * @param {number} status
 * @param {string} code
 * @param {Record<string, string>} [headers]
 */
export function refused(status, code, headers = {}) {
  const error = { code, message: 'No.', request_id: 'r-1' };
  return answer(status, { error, errors: [], message: 'No.' }, headers);
}

/** A connection that ends before an answer came. */
export const BROKEN = new TypeError('Failed to fetch');

/** A browser whose service gives prepared answers. */
export class FakeBrowser {
  /** @param {(Response | Error)[]} answers */
  constructor(...answers) {
    this.answers = answers;
    /** @type {Sent[]} */
    this.sent = [];
    /** @type {number[]} seconds */
    this.waits = [];
    this.time = 1_800_000_000_000;
    this.keys = 0;
    /** @type {Set<string>} names that a page holds */
    this.held = new Set();
    /** @type {Map<string, string>} */
    this.stored = new Map();
    this.storage = {
      getItem: (/** @type {string} */ name) => this.stored.get(name) ?? null,
      setItem: (/** @type {string} */ name, /** @type {string} */ value) => {
        this.stored.set(name, value);
      },
      removeItem: (/** @type {string} */ name) => {
        this.stored.delete(name);
      },
    };
    /** @type {typeof globalThis.fetch} */
    this.fetch = async (url, init = {}) => {
      this.sent.push({
        url: String(url),
        method: init.method ?? 'GET',
        headers: /** @type {Record<string, string>} */ (init.headers ?? {}),
        body: String(init.body ?? ''),
      });
      const next = this.answers.shift();
      if (next === undefined) {
        throw new Error(`No answer is prepared for ${url}`);
      }
      if (next instanceof Error) {
        throw next;
      }
      return next;
    };
  }

  /** @param {number} milliseconds */
  async wait(milliseconds) {
    this.waits.push(milliseconds / 1000);
  }

  now() {
    return this.time;
  }

  random() {
    return 0.5;
  }

  /** @param {string} name */
  async hold(name) {
    const isFree = !this.held.has(name);
    this.held.add(name);
    return isFree;
  }

  /** @type {((message: any) => void)[]} of the pages of the same browser */
  listeners = [];

  /**
   * @param {string} _name
   * @param {(message: any) => void} onMessage
   */
  channel(_name, onMessage) {
    const { listeners } = this;
    listeners.push(onMessage);
    return (/** @type {object} */ message) => {
      const others = listeners.filter((one) => one !== onMessage);
      setTimeout(() => others.forEach((one) => one(structuredClone(message))));
    };
  }

  newKey() {
    this.keys += 1;
    return `key-${this.keys}`;
  }
}

/**
 * @param {FakeBrowser} browser whose next answer is not used
 * @returns {Promise<Session>} of a signed-in user
 */
export async function signedInSession(browser) {
  const prepared = browser.answers;
  browser.answers = [granted('first')];
  const session = new Session('https://acme.test/v1', browser);
  await session.signIn('ana', 'secret');
  browser.answers = prepared;
  browser.sent = [];
  return session;
}

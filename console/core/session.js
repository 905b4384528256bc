/**
 * Who is signed in. The access token stays in memory; the refresh token, which works once, is in
 * the storage of the tab, so that a reload does not end the session.
 */

import { signal } from '../vendor/signals-core.js';
import { NoAnswer, Refusal, refusalOf, SessionEnded } from './refusal.js';
import { timeZone } from './zone.js';

/** @typedef {import('./browser.js').Browser} Browser */

/**
 * @typedef {object} SignedIn
 * @property {string} userId id of the user, as in `GET /users/{id}`
 * @property {string} tenant slug of the company
 * @property {ReadonlySet<string>} permissions
 * @property {boolean} isRestricted whether the second factor is missing: only products can be read
 * @property {number} issuedAt when the service issued the token, in seconds since 1970
 */

/** @typedef {import('./tabs.js').OtherTabs} OtherTabs */

/** Seconds before the end of a token at which it is renewed. */
const MARGIN = 60;

export const STORED = 'stowage.refresh_token';

/** Where a tab keeps its name, which its page holds. */
export const TAB = 'stowage.tab';

export class Session {
  /** @type {string | null} */
  #token = null;
  expiresAt = 0;
  /** @type {OtherTabs | null} */
  others = null;
  /** @type {Promise<string> | null} */
  #renewal = null;
  /** A renewal under way at a sign-out must not sign in again. */
  #signOuts = 0;

  /**
   * @param {string} base address of the interface, without a slash at its end
   * @param {Browser} browser
   */
  constructor(base, browser) {
    this.base = base;
    this.browser = browser;
    /** Who signed in last; null before a sign-in and after a sign-out. */
    this.user = signal(/** @type {SignedIn | null} */ (null));
    /** Whether the session of this user ended by itself: screens stay, calls need a sign-in. */
    this.isEnded = signal(false);
  }

  /** The user and the company; empty for nobody. */
  get owner() {
    const { value } = this.user;
    return value === null ? '' : `${value.userId}@${value.tenant}`;
  }

  /** Whether an earlier page of this tab left a session that can be continued. */
  get canContinue() {
    return this.browser.storage.getItem(STORED) !== null;
  }

  /**
   * Sign a user in.
   *
   * @param {string} username
   * @param {string} password
   * @param {string} [code] of the authenticator app, or a recovery code
   * @throws {Refusal} `invalid_grant`: name, password or code is wrong; or a code of the envelope
   * @throws {NoAnswer}
   */
  async signIn(username, password, code) {
    const form = { grant_type: 'password', username, password, ...(code ? { otp: code } : {}) };
    this.keep(await this.#request('/oauth/token', form));
  }

  /**
   * Return an access token that is valid for at least a minute.
   *
   * @returns {Promise<string>}
   * @throws {SessionEnded}
   * @throws {NoAnswer | Refusal} the session may continue later
   */
  async token() {
    const isFresh = this.browser.now() < (this.expiresAt - MARGIN) * 1000;
    return this.#token !== null && isFresh ? this.#token : this.renew();
  }

  /**
   * Replace the access token, once for all calls that wait for it.
   *
   * @returns {Promise<string>}
   * @throws {SessionEnded}
   * @throws {NoAnswer | Refusal}
   */
  renew() {
    this.#renewal ??= this.#renew().finally(() => {
      this.#renewal = null;
    });
    return this.#renewal;
  }

  /** End the session in all tabs and at the service. Here it also ends without an answer. */
  async signOut() {
    this.others?.signOut();
    await this.leave();
  }

  /** End the session in this tab, and at the service if this tab can renew it. */
  async leave() {
    const token = this.browser.storage.getItem(STORED);
    this.#signOuts += 1;
    this.#end();
    this.user.value = null;
    await this.#revoke(token);
  }

  /** @returns {Promise<string>} */
  async #renew() {
    const signOuts = this.#signOuts;
    const grant = await this.#newGrant();
    if (signOuts !== this.#signOuts) {
      await this.#revoke(grant?.refresh_token);
      throw new SessionEnded();
    }
    if (grant === null) {
      this.#end();
      throw new SessionEnded();
    }
    return this.keep(grant);
  }

  /** @returns {Promise<import('./tabs.js').Grant | null>} null if the session has ended */
  async #newGrant() {
    const refresh = this.browser.storage.getItem(STORED);
    if (refresh === null) {
      return this.isEnded.value ? null : ((await this.others?.renew()) ?? null);
    }
    try {
      const form = { grant_type: 'refresh_token', refresh_token: refresh };
      return await this.#request('/oauth/token', form);
    } catch (error) {
      if (error instanceof Refusal && error.code === 'invalid_grant') {
        return null;
      }
      throw error;
    }
  }

  /** @param {string | null | undefined} token */
  async #revoke(token) {
    if (token != null) {
      await this.#request('/oauth/revoke', { token }).catch(() => undefined);
    }
  }

  /**
   * @param {string} path
   * @param {Record<string, string>} form
   * @returns {Promise<any>}
   */
  async #request(path, form) {
    let response;
    try {
      const body = new URLSearchParams(form);
      response = await this.browser.fetch(this.base + path, { method: 'POST', body });
    } catch (error) {
      throw new NoAnswer(error);
    }
    if (response.ok) {
      return response.json().catch(() => ({}));
    }
    const copy = response.clone();
    const refusal = await refusalOf(response);
    const oauth = await copy.json().catch(() => ({}));
    if (typeof oauth?.error === 'string') {
      refusal.code = oauth.error;
      refusal.message = oauth.error_description ?? '';
    }
    throw refusal;
  }

  /**
   * @param {import('./tabs.js').Grant} answer
   * @returns {string}
   */
  keep(answer) {
    if (answer.refresh_token !== undefined) {
      this.browser.storage.setItem(STORED, answer.refresh_token);
    }
    this.#token = answer.access_token;
    this.expiresAt = this.browser.now() / 1000 + answer.expires_in;
    this.user.value = signedIn(answer.access_token);
    timeZone.value = answer.timezone;
    this.isEnded.value = false;
    return answer.access_token;
  }

  #end() {
    this.browser.storage.removeItem(STORED);
    this.#token = null;
    this.expiresAt = 0;
    this.isEnded.value = true;
  }
}

/**
 * Return what an access token says about its user. The service decides by the token itself; this
 * only chooses what is offered.
 *
 * @param {string} token
 * @returns {SignedIn}
 */
export function signedIn(token) {
  const payload = (token.split('.')[1] ?? '').replaceAll('-', '+').replaceAll('_', '/');
  const bytes = Uint8Array.from(atob(payload), (character) => character.charCodeAt(0));
  const claims = JSON.parse(new TextDecoder().decode(bytes));
  return {
    userId: claims.sub,
    tenant: claims.tenant,
    permissions: new Set(claims.permissions.split(' ').filter(Boolean)),
    isRestricted: claims.second_factor === false,
    issuedAt: claims.iat,
  };
}

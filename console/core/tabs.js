/**
 * One sign-in for the tabs of a browser. The tab where somebody signed in has the refresh token; the
 * others ask it for access tokens, in messages that only pages of the same address get. Nothing of
 * that is stored. When the tab with the refresh token is closed, the others ask for a sign-in as soon
 * as their access tokens end.
 */

import { STORED, TAB } from './session.js';
import { timeZone } from './zone.js';

/**
 * @typedef {import('./session.js').Session} Session
 * @typedef {{access_token: string, refresh_token?: string, expires_in: number,
 *   timezone: string | undefined}} Grant
 *   without a refresh token if another tab has it
 * @typedef {{renew: () => Promise<Grant | null>, signOut: () => void}} OtherTabs
 */

/** Milliseconds that a new tab waits for the others before it asks for a sign-in. */
const PATIENCE = 300;

/** As long as a renewal in another tab may take. */
const RENEWAL = 5000;

/**
 * Leave a session to its tab, if this one is a copy of it: a duplicated tab has the same storage, and
 * the second use of the refresh token would end the session of both.
 *
 * @param {import('./browser.js').Browser} browser
 */
export async function claimTab(browser) {
  const { storage } = browser;
  const name = storage.getItem(TAB);
  if (name !== null && (await browser.hold(name))) {
    return;
  }
  storage.removeItem(STORED);
  const own = browser.newKey();
  storage.setItem(TAB, own);
  await browser.hold(own);
}

/**
 * Share the session of a tab with the others, or take part in theirs.
 *
 * @param {Session} session
 * @param {import('./browser.js').Browser} browser
 * @param {() => void} onSignedOut is called after a sign-out in another tab
 * @returns {Promise<void>} resolves when the session has its first token, if there is one
 */
export async function shareSession(session, browser, onSignedOut) {
  /** @type {Map<string, (grant: Grant) => void>} */
  const waiting = new Map();
  const post = browser.channel(`stowage ${session.base}`, async (message) => {
    if (message.answers) {
      waiting.get(message.answers)?.(message.grant);
    } else if (message.signsOut) {
      if (message.signsOut === session.owner) {
        await session.leave();
        onSignedOut();
      }
    } else {
      const grant = await lend(session, browser, message);
      if (grant !== null) {
        post({ answers: message.asks, grant });
      }
    }
  });
  /**
   * @param {string | null} user owner of the session; null for a new tab
   * @param {number} milliseconds
   * @returns {Promise<Grant | null>}
   */
  const ask = async (user, milliseconds) => {
    const key = browser.newKey();
    const answer = new Promise((/** @type {(grant: Grant) => void} */ resolve) => {
      waiting.set(key, resolve);
    });
    post({ asks: key, user });
    const grant = await Promise.race([answer, browser.wait(milliseconds).then(() => null)]);
    waiting.delete(key);
    return grant;
  };
  session.others = {
    renew: async () => (session.owner === '' ? null : ask(session.owner, RENEWAL)),
    signOut: () => post({ signsOut: session.owner }),
  };
  if (session.canContinue) {
    await session.renew();
    return;
  }
  const grant = await ask(null, PATIENCE);
  if (grant !== null) {
    session.keep(grant);
  }
}

/**
 * Return a token for another tab: a new one for a tab whose token ended or was refused; null if this
 * tab has no refresh token, or is of somebody else.
 *
 * @param {Session} session
 * @param {import('./browser.js').Browser} browser
 * @param {{user: string | null}} message
 * @returns {Promise<Grant | null>}
 */
async function lend(session, browser, { user }) {
  if (!session.canContinue) {
    return null;
  }
  try {
    const token = await (user === null ? session.token() : session.renew());
    const expires = session.expiresAt - browser.now() / 1000;
    return user === null || user === session.owner
      ? { access_token: token, expires_in: expires, timezone: timeZone.value }
      : null;
  } catch {
    return null; // the other tab asks for a sign-in
  }
}

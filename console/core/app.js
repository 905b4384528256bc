/**
 * What all screens share: the session, the calls, and how values are written.
 */

import { computed, signal } from '../vendor/signals-core.js';
import { browser } from './browser.js';
import { Action, Calls } from './calls.js';
import { Session } from './session.js';
import { region } from './words.js';
import { timeZone } from './zone.js';

/** Address of the console, with a slash at its end; `index.html` has it as its base. */
export const CONSOLE = document.baseURI;

export const session = new Session(new URL('..', CONSOLE).href.replace(/\/$/, ''), browser);

export { browser };

export const calls = new Calls(session, browser);

export const locale = computed(() => ({ language: region(), timeZone: timeZone.value }));

/** @returns {Action} an action of the signed-in person */
export function newAction() {
  return new Action(browser);
}

/** @returns {ReadonlySet<string>} none while the second factor is missing */
export function permissions() {
  const user = session.user.value;
  return user === null || user.isRestricted ? new Set() : user.permissions;
}

/** @param {string | null} permission null if everybody may */
export function isPermitted(permission) {
  return permission === null || permissions().has(permission);
}

/** Messages that are shown for a while. */
export const messages = signal(/** @type {readonly {id: number, text: string}[]} */ ([]));

let lastMessage = 0;

/** @param {string} text */
export function say(text) {
  lastMessage += 1;
  const message = { id: lastMessage, text };
  messages.value = [...messages.value, message];
  setTimeout(() => {
    messages.value = messages.value.filter((one) => one !== message);
  }, 6000);
}

/**
 * What a person wrote in the form of something new, kept in the tab until it is saved: it survives a
 * reload, another screen, and the time until an approval.
 */

import { PREFIX } from './kept.js';

/** @typedef {import('../components/fields.js').Draft} Draft */

/**
 * @param {string} owner of the session: nobody else at this tab sees the draft
 * @param {string} name of the form
 */
const keyOf = (owner, name) => `${PREFIX}${owner} ${name}`;

/**
 * Keep a draft, without passwords and secrets.
 *
 * @param {Pick<Storage, 'setItem'>} storage
 * @param {string} owner
 * @param {string} name
 * @param {Draft} draft
 */
export function keepDraft(storage, owner, name, draft) {
  const kept = Object.entries(draft).filter(([field]) => !/(password|secret)$/.test(field));
  try {
    storage.setItem(keyOf(owner, name), JSON.stringify(Object.fromEntries(kept)));
  } catch {
    // the storage of the tab is full: the form works without
  }
}

/**
 * @param {Pick<Storage, 'getItem'>} storage
 * @param {string} owner
 * @param {string} name
 * @returns {Draft | null}
 */
export function keptDraft(storage, owner, name) {
  return JSON.parse(storage.getItem(keyOf(owner, name)) ?? 'null');
}

/**
 * @param {Pick<Storage, 'removeItem'>} storage
 * @param {string} owner
 * @param {string} name
 */
export function forgetDraft(storage, owner, name) {
  storage.removeItem(keyOf(owner, name));
}

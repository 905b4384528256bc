/** What a person opened last, kept in the tab until the sign-out. */

import { PREFIX } from './kept.js';

/** @typedef {{subject: string, id: string, title: string}} Opened */

/**
 * @param {any} storage
 * @param {string} owner of the session
 * @param {Opened} opened
 */
export function rememberOpened(storage, owner, opened) {
  const others = lastOpened(storage, owner).filter(
    ({ subject, id }) => subject !== opened.subject || id !== opened.id,
  );
  try {
    storage[`${PREFIX}${owner} opened`] = JSON.stringify([opened, ...others.slice(0, 9)]);
  } catch {
    // the storage of the tab is full: the screen is shown without
  }
}

/**
 * @param {any} storage
 * @param {string} owner
 * @returns {Opened[]} the last one first
 */
export function lastOpened(storage, owner) {
  return JSON.parse(storage[`${PREFIX}${owner} opened`] ?? '[]');
}

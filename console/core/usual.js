/**
 * The warehouse of a person: the only one of the company, or the last one in this browser.
 */

import { calls, session } from './app.js';

/** Where the browser keeps its code, for each company. */
const key = () => `stowage.warehouse ${session.user.value?.tenant}`;

/** @param {string} code */
export function rememberWarehouse(code) {
  try {
    localStorage.setItem(key(), code);
  } catch {
    // the storage of the browser is full: the form is saved without
  }
}

/**
 * Return the code of the only warehouse, or of the one that was last written in a form here.
 *
 * @param {AbortSignal} signal
 */
export async function usualWarehouse(signal) {
  const last = localStorage.getItem(key());
  if (last !== null) {
    return last;
  }
  try {
    const { body } = await calls.read('GET /warehouses', { query: { per_page: 2 }, signal });
    return body.data.length === 1 ? (body.data[0]?.whs_code ?? null) : null;
  } catch {
    return null; // a form works without
  }
}

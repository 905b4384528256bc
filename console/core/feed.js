/** The latest entries of the feed of changes. */

import { calls } from './app.js';
import { Refusal } from './refusal.js';

/** Transactions of the company that are searched, and those of a page. */
export const MOST = 2000;
const PAGE = 500;

/**
 * Return the latest transactions that changed a kind of object, oldest first: of the newest `MOST`
 * of the company, those that are kept.
 *
 * @param {string} object
 * @param {AbortSignal} [signal]
 */
export async function latestTransactions(object, signal) {
  const latest = await calls.read('GET /changes/latest', { signal });
  const { position, epoch } = latest.body.data;
  const page = (/** @type {number} */ after, /** @type {number} */ size) =>
    calls.read('GET /changes', { query: { after, epoch, objects: object, per_page: size, include: 'action' }, signal });
  const isKept = (/** @type {number} */ after) =>
    page(after, 1).then(() => true, (error) => {
      if (error instanceof Refusal && error.status === 410) {
        return false;
      }
      throw error;
    });
  const found = [];
  for (let after = await firstKept(Math.max(0, position - MOST), position, isKept); after < position; ) {
    const { body } = await page(after, PAGE);
    found.push(...body.data);
    after = body.meta.last;
  }
  return found;
}

/**
 * Return the first position from `low` on behind which everything is kept; it is so behind `high`.
 *
 * @param {number} low
 * @param {number} high
 * @param {(position: number) => Promise<boolean>} isKept
 */
async function firstKept(low, high, isKept) {
  for (let next = low; low < high; next = Math.floor((low + high) / 2)) {
    if (await isKept(next)) {
      high = next;
    } else {
      low = next + 1;
    }
  }
  return high;
}

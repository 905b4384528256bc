/**
 * Writes for several resources, one after the other.
 */

import { newAction } from './app.js';
import { isUnknown, Refusal, SessionEnded } from './refusal.js';

/**
 * @typedef {import('./description.js').Resource} Resource
 * @typedef {{row: Resource, made: Resource} | {row: Resource, error: unknown}} Result
 */

/** The requests of a screen: a repetition of one whose outcome is not known has the same key. */
export class Requests {
  /** @type {Map<string, import('./calls.js').Action>} */
  #actions = new Map();

  /**
   * Send a request for one row after the other; end at one whose outcome is not known, or that the
   * limit of requests refuses.
   *
   * @param {readonly Resource[]} rows
   * @param {string} name of the request
   * @param {(row: Resource, key: string) => Promise<{body: any}>} send
   * @param {(count: number) => void} onProgress is called before each with those that are done
   * @returns {Promise<Result[]>}
   */
  async send(rows, name, send, onProgress) {
    /** @type {Result[]} */
    const results = [];
    for (const row of rows) {
      onProgress(results.length);
      const action = this.#actions.get(`${name} ${row.id}`) ?? newAction();
      this.#actions.set(`${name} ${row.id}`, action);
      try {
        const answer = await action.run((key) => send(row, key));
        results.push({ row, made: answer.body?.data ?? {} });
      } catch (error) {
        results.push({ row, error });
        if (endsAll(error)) {
          break;
        }
      }
    }
    return results;
  }
}

/**
 * Return the error that ended a run before all rows were done; undefined if none did.
 *
 * @param {readonly Result[]} results
 */
export function endOf(results) {
  const last = results.at(-1);
  return last !== undefined && 'error' in last && endsAll(last.error) ? last.error : undefined;
}

/**
 * Return the rows that a write about all of them cannot have.
 *
 * @param {import('./description.js').Together} write
 * @param {readonly Resource[]} rows
 * @param {Resource} body of the write
 */
export function unfitting({ isFor = () => true }, rows, body) {
  return rows.filter((row) => !isFor(row, body));
}

/** @param {unknown} error */
function endsAll(error) {
  return error instanceof SessionEnded || isUnknown(error) || (error instanceof Refusal && error.status === 429);
}

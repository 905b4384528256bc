/**
 * Suggestions from the lists of the interface while a person writes a code or a name.
 */

import { calls } from '../core/app.js';
import { isNotOffered } from '../core/refusal.js';
import { useEffect, useRef, useState } from '../vendor/hooks.js';
import { h } from '../vendor/preact.js';

/**
 * @typedef {import('../core/sources.js').Source} Source
 * @typedef {import('../core/sources.js').Choice} Choice
 */

/** Milliseconds without a key before the lists are asked. */
const PAUSE = 250;

/** Rows of a list that are suggested, and those of one that cannot be searched. */
const MOST = 20;
const UNSEARCHED = 100;

/**
 * Return what lists have for what a person writes, each value once, how many rows match in all, and
 * whether the person may not read a list.
 *
 * @param {readonly Source[]} sources none if nothing is asked
 * @param {string} written
 * @param {string} [sort] order of the rows
 */
export function useChoices(sources, written, sort) {
  const [found, setFound] = useState({ choices: /** @type {readonly Choice[]} */ ([]), total: 0, isRefused: false });
  const key = JSON.stringify([sources, sources.some(({ filter }) => filter !== null) && written]);
  useEffect(() => {
    if (sources.length === 0) {
      return undefined;
    }
    const stop = new AbortController();
    const timer = setTimeout(async () => {
      const answers = await Promise.all(sources.map((source) => rowsOf(source, written, sort, stop.signal)));
      if (!stop.signal.aborted) {
        const choices = answers.flatMap(({ rows }, at) => rows.map((row) => sources[at]?.choiceOf(row)));
        const known = choices.flatMap((choice) => (choice?.value ? [choice] : []));
        setFound({
          choices: [...new Map(known.reverse().map((choice) => [choice.value, choice])).values()].reverse(),
          total: answers.reduce((sum, { total }) => sum + total, 0),
          isRefused: answers.some((one) => one.isRefused),
        });
      }
    }, PAUSE);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [key]);
  return found;
}

/**
 * @param {Source} source
 * @param {string} written
 * @param {string | undefined} sort
 * @param {AbortSignal} signal
 * @returns {Promise<{rows: Record<string, any>[], total: number, isRefused: boolean, error?: unknown}>}
 */
export async function rowsOf({ list, filter = 'search', query }, written, sort, signal) {
  const operation = /** @type {'GET /products'} */ (`GET /${list}`);
  const asked = filter === null ? { per_page: UNSEARCHED } : { [filter]: written.trim(), per_page: MOST };
  try {
    const { body } = await calls.read(operation, { query: { sort, ...query, ...asked }, signal });
    return { rows: body.data, total: body.meta.total, isRefused: false };
  } catch (error) {
    // Without a list, the id can still be written; without an answer, what is written may be a number.
    return { rows: [], total: 0, isRefused: isNotOffered(error), error };
  }
}

/**
 * Return the names of ids that a form has from elsewhere, such as its address.
 *
 * @param {Source | undefined} source
 * @param {readonly string[]} ids
 * @param {readonly Choice[]} choices whose names are known
 * @returns {ReadonlyMap<string, string>}
 */
export function useNames(source, ids, choices) {
  const names = useRef(/** @type {Map<string, string>} */ (new Map())).current;
  choices.forEach(({ value, name }) => names.set(value, name));
  const [, setRead] = useState(0);
  const nameless = source?.isById ? ids.filter((id) => /^\d+$/.test(id) && !names.has(id)) : [];
  useEffect(() => {
    const stop = new AbortController();
    const operation = /** @type {'GET /products/{id}'} */ (`GET /${source?.list}/{id}`);
    nameless.forEach(async (id) => {
      try {
        const { body } = await calls.read(operation, { parameters: { id }, signal: stop.signal });
        names.set(id, source?.choiceOf(body.data).name ?? id);
        setRead(names.size);
      } catch {
        // the id is shown itself
      }
    });
    return () => stop.abort();
  }, [nameless.join()]);
  return names;
}

/**
 * The suggestions of an input, which names them in its attribute `list`.
 *
 * @param {object} props
 * @param {string} props.id
 * @param {readonly Choice[]} props.choices
 */
export function Suggestions({ id, choices }) {
  return h(
    'datalist',
    { id },
    choices.map(({ value, name, more }) => h('option', { key: value, value: name }, more)),
  );
}

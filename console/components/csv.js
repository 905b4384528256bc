/**
 * The rows of a list as a file: those that are shown or chosen, or all that its filters find.
 */

import { browser, calls, locale, say } from '../core/app.js';
import { saveFile } from '../core/files.js';
import { csvFile, formatNumber } from '../core/format.js';
import { Refusal } from '../core/refusal.js';
import { text } from '../core/words.js';
import { useEffect, useRef, useState } from '../vendor/hooks.js';
import { h } from '../vendor/preact.js';
import { Notice } from './notice.js';

/**
 * @typedef {import('../core/subject.js').Field} Field
 * @typedef {Record<string, unknown>} Row
 */

/** Rows that are read page by page: each page is a request. An export has more. */
const MOST = 10_000;
const PAGE = 100;

/**
 * @param {object} props
 * @param {string} props.title
 * @param {readonly Field[]} props.columns
 * @param {readonly Row[]} props.rows that are shown
 * @param {readonly Row[]} props.chosen
 * @param {string} props.path of the list, with its parameters
 * @param {Record<string, string>} props.parameters
 * @param {Readonly<Record<string, string>>} props.query
 * @param {number | undefined} props.total undefined if it is not known
 */
export function Csv({ title, columns, rows, chosen, path, parameters, query, total }) {
  const [count, setCount] = useState(/** @type {number | null} */ (null)); // rows that are read
  const [error, setError] = useState(/** @type {unknown} */ (null));
  const stop = useRef(/** @type {AbortController | null} */ (null));
  useEffect(() => () => stop.current?.abort(), []);
  /** @param {readonly Row[]} all */
  const save = (all) => {
    const lines = [columns.map(({ name }) => name), ...all.map((row) => columns.map(({ name }) => row[name]))];
    saveFile(new Blob([csvFile(lines)], { type: 'text/csv;charset=utf-16le' }), `${title}.csv`);
  };
  const saveAll = async () => {
    stop.current = new AbortController();
    const { signal } = stop.current;
    setError(null);
    try {
      /** @type {Row[]} */
      const all = [];
      /** @type {Record<string, string | number | null>} */
      let asked = { ...query, page: null, cursor: null, per_page: PAGE };
      let isMore = true;
      while (isMore && all.length < MOST) {
        setCount(all.length);
        const { data, links } = await pageOf(path, parameters, asked, signal);
        all.push(...data);
        isMore = links.next !== null;
        asked = { ...asked, ...(links.next && Object.fromEntries(new URL(links.next, document.baseURI).searchParams)) };
      }
      save(all);
      say(text(isMore ? 'csv_cut' : 'csv_saved', { count: formatNumber(all.length, locale.value) }));
    } catch (refused) {
      setError(signal.aborted ? null : refused);
    }
    setCount(null);
  };
  if (count !== null) {
    const done = formatNumber(count, locale.value);
    return [
      h('span', { role: 'status' }, total === undefined ? `CSV: ${done}` : text('progress_of', { label: 'CSV', count: done, total: formatNumber(total, locale.value) })),
      h('button', { type: 'button', onClick: () => stop.current?.abort() }, text('stop')),
    ];
  }
  const isMore = total === undefined || (total > rows.length && total <= MOST);
  return [
    chosen.length > 0
      ? h('button', { type: 'button', onClick: () => save(chosen) }, text('csv_of_chosen', { count: chosen.length }))
      : h('button', { type: 'button', onClick: () => save(rows) }, text('download_csv', { count: rows.length })),
    isMore &&
      h(
        'button',
        { type: 'button', onClick: saveAll },
        total === undefined ? text('csv_of_all') : text('csv_of_all_count', { count: formatNumber(total, locale.value) }),
      ),
    h(Notice, { error, onRetry: saveAll }),
  ];
}

/**
 * Read a page. Where the limit of requests is reached, wait as long as the service says.
 *
 * @param {string} path
 * @param {Record<string, string>} parameters
 * @param {Record<string, string | number | null>} query
 * @param {AbortSignal} signal
 * @returns {Promise<{data: Row[], links: {next: string | null}}>}
 */
async function pageOf(path, parameters, query, signal) {
  const operation = /** @type {'GET /products'} */ (`GET ${path}`);
  try {
    return /** @type {any} */ ((await calls.read(operation, { parameters, query, signal })).body);
  } catch (error) {
    if (!(error instanceof Refusal) || error.status !== 429 || error.retryAfter === null) {
      throw error;
    }
    await browser.wait(error.retryAfter * 1000);
    signal.throwIfAborted();
    return pageOf(path, parameters, query, signal);
  }
}

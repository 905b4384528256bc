/**
 * The first rows of a list of another subject about a resource.
 */

import { href } from '../core/address.js';
import { calls, locale } from '../core/app.js';
import { formatNumber } from '../core/format.js';
import { linkInRow, linkOf } from '../core/links.js';
import { listPath } from '../core/subject.js';
import { loadInterface, useLoaded, useRefresh } from '../core/use.js';
import { subjectLabel, text } from '../core/words.js';
import { SUBJECT } from '../subjects.js';
import { useEffect } from '../vendor/hooks.js';
import { h } from '../vendor/preact.js';
import { Table } from './table.js';

const ROWS = 10;
const PAUSE = 30_000;

/**
 * @param {object} props
 * @param {string} props.name of the subject
 * @param {Record<string, string>} props.query
 * @param {(rows: readonly import('../core/description.js').Resource[]) => void} props.onRows
 */
export function RelatedRows({ name, query, onRows }) {
  const subject = /** @type {import('../core/subject.js').Subject} */ (SUBJECT.get(name));
  const path = listPath(subject);
  const { result, refresh } = useLoaded(`related ${name} ${JSON.stringify(query)}`, async (signal) => {
    const operation = /** @type {'GET /pickings'} */ (`GET ${path}`);
    const [description, { body }] = await Promise.all([
      loadInterface(name),
      calls.read(operation, { query: { ...query, per_page: ROWS }, signal }),
    ]);
    return { fields: description.lists[path]?.fields ?? [], page: body };
  });
  useRefresh(refresh, PAUSE);
  useEffect(() => {
    if (result !== null) {
      onRows(result.page.data);
    }
  }, [result]);
  if (result === null || result.page.data.length === 0) {
    return null; // it is also a link
  }
  const { fields, page } = result;
  const columns = subject.columns.flatMap((column) => fields.find((field) => field.name === column && !(column in query)) ?? []);
  const rows = /** @type {Record<string, unknown>[]} */ (/** @type {unknown} */ (page.data));
  return h('section', {}, [
    h('h2', {}, subjectLabel(name)),
    h(Table, {
      caption: subjectLabel(name),
      columns,
      rows: rows.map((row) => ({ object: subject.kind, ...row })), // its title leads to it
      linkOf: ({ name: field }, row) => linkInRow(field, row) ?? linkOf(field, row, subject.links),
    }),
    page.meta.total > rows.length &&
      h('p', {}, h('a', { href: href([name], query) }, text('found_all', { count: formatNumber(page.meta.total, locale.value) }))),
  ]);
}

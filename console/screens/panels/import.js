/**
 * The course of an import: its progress, and the problems of its rows.
 */

import { calls } from '../../core/app.js';
import { pathOf } from '../../core/calls.js';
import { saveFile } from '../../core/files.js';
import { text } from '../../core/words.js';
import { imported, useLoaded } from '../../core/use.js';
import { h } from '../../vendor/preact.js';
import { Notice } from '../../components/notice.js';
import { Table } from '../../components/table.js';

/** The report is written at the end of the validation. */
const VALIDATED_LATER = new Set(['uploaded', 'validating']);
const UNDER_WAY = new Set([...VALIDATED_LATER, 'committing']);

/** Rows of the table; the file has all. */
const MOST_ROWS = 200;

/**
 * @param {object} props
 * @param {Record<string, any>} props.resource
 */
export function Panel({ resource }) {
  const { rows, documents } = resource;
  const done = resource.status === 'committing' ? documents.committed : rows.valid + rows.error;
  const total = resource.status === 'committing' ? documents.valid : rows.total;
  return h('section', {}, [
    UNDER_WAY.has(resource.status) &&
      h('progress', { 'aria-label': text('progress'), ...(total > 0 ? { value: done, max: total } : {}) }),
    resource.structure_errors.length > 0 &&
      h(
        'ul',
        { class: 'notice' },
        resource.structure_errors.map((/** @type {string} */ error) => h('li', { key: error }, error)),
      ),
    (rows.error > 0 || documents.skipped > 0) &&
      !VALIDATED_LATER.has(resource.status) &&
      h(Report, { id: resource.id }),
  ]);
}

/**
 * @param {object} props
 * @param {number} props.id
 */
function Report({ id }) {
  const report = useLoaded(`report ${id}`, async () => {
    const { readRows } = await imported(() => import('../../core/workbook.js'));
    const file = await calls.download(pathOf('GET /imports/{id}/error-report', { id }));
    const content = await file.arrayBuffer();
    return { file, rejected: await readRows(content), skipped: await readRows(content, 2) };
  });
  const save = () => saveFile(report.result?.file ?? new Blob(), `import-${id}-errors.xlsx`);
  return h('section', {}, [
    h(Notice, { error: report.error, onRetry: report.reload }),
    report.result && h('button', { type: 'button', onClick: save }, text('download_report')),
    h(Rows, { title: text('rejected_rows'), sheet: report.result?.rejected ?? [] }),
    h(Rows, { title: text('skipped_rows'), sheet: report.result?.skipped ?? [] }),
  ]);
}

/**
 * @param {object} props
 * @param {string} props.title
 * @param {string[][]} props.sheet the header and the rows
 */
function Rows({ title, sheet }) {
  const [head = [], ...rows] = sheet;
  if (rows.length === 0) {
    return null;
  }
  return h('section', {}, [
    h('h2', {}, title),
    h(Table, {
      caption: title,
      columns: headsOf(head).map((label, at) => ({ name: String(at), type: /** @type {const} */ ('text'), label })),
      rows: rows.slice(0, MOST_ROWS).map((cells) => Object.fromEntries(cells.entries())),
    }),
    rows.length > MOST_ROWS && h('p', { class: 'quiet' }, text('first_rows', { count: MOST_ROWS })),
  ]);
}

/**
 * Return the heads of a table of rows: the report has its own columns first, in the language of the file.
 *
 * @param {readonly string[]} head of the sheet
 */
export function headsOf(head) {
  return [text('report_row'), text('report_field'), text('report_reason'), ...head.slice(3)];
}

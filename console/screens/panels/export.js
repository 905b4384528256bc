/**
 * The course of an export, and the links to its files.
 */

import { objectOf } from '../../core/subject.js';
import { fieldLabel, subjectLabel, text } from '../../core/words.js';
import { h } from '../../vendor/preact.js';
import { Table } from '../../components/table.js';
import { SUBJECTS } from '../../subjects.js';

/**
 * @typedef {{object: string, url: string | null, rows: number, bytes: number, sha256: string}} File
 */

/**
 * @param {object} props
 * @param {Record<string, any>} props.resource
 */
export function Panel({ resource }) {
  const files = /** @type {File[]} */ (resource.files);
  if (resource.status === 'pending' || resource.status === 'running') {
    return h('progress', { 'aria-label': text('progress') });
  }
  return files.length === 0
    ? null
    : h('section', {}, [
        h('h2', {}, fieldLabel('files')),
        h(Table, {
          caption: fieldLabel('files'),
          columns: [
            { name: 'object', type: 'text' },
            { name: 'rows', type: 'integer' },
            { name: 'bytes', type: 'integer' },
          ],
          rows: files.map((file) => ({ ...file, object: labelOf(file.object) })),
          linkOf: ({ name }, row) => (name === 'object' && row.url ? String(row.url) : undefined),
        }),
        files.some(({ url }) => url === null) && h('p', { class: 'quiet' }, text('no_links')),
      ]);
}

/**
 * Return the words of an object: those of its list.
 *
 * @param {string} object
 */
function labelOf(object) {
  const subject = SUBJECTS.find((one) => objectOf(one) === object);
  return subject === undefined ? object : subjectLabel(subject.name);
}

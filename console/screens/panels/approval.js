/**
 * What an approval is about: the request that waits, next to the goods that it concerns.
 */

import { calls, permissions } from '../../core/app.js';
import { itemPath } from '../../core/subject.js';
import { loadInterface, useLoaded } from '../../core/use.js';
import { fieldLabel, subjectLabel, text } from '../../core/words.js';
import { SUBJECT, SUBJECT_OF_KIND } from '../../subjects.js';
import { h } from '../../vendor/preact.js';
import { Notice } from '../../components/notice.js';
import { Parts } from '../../components/parts.js';
import { Table } from '../../components/table.js';

/**
 * @param {object} props
 * @param {Record<string, any>} props.resource
 */
export function Panel({ resource: { request, resource } }) {
  const name = SUBJECT_OF_KIND[resource.object] ?? '';
  return h('section', {}, [
    h('h2', {}, text('what_is_asked')),
    request.body && h(Parts, { fields: [], values: request.body }),
    !permissions().has('approvals.grant') && h('p', { class: 'quiet' }, text('others_decide')),
    SUBJECT.has(name) && h(Goods, { name, id: resource.id }),
  ]);
}

/**
 * @param {object} props
 * @param {string} props.name subject that the request would change
 * @param {number} props.id
 */
function Goods({ name, id }) {
  const subject = /** @type {import('../../core/subject.js').Subject} */ (SUBJECT.get(name));
  const loaded = useLoaded(`${name} ${id}`, async (signal) => {
    const operation = /** @type {'GET /products/{id}'} */ (`GET ${itemPath(subject)}`);
    const [description, { body }] = await Promise.all([
      loadInterface(name),
      calls.read(operation, { parameters: { id }, signal }),
    ]);
    const fields = description.details[itemPath(subject)]?.fields ?? [];
    return { fields, data: /** @type {Record<string, any>} */ (body.data) };
  });
  const lines = loaded.result?.fields.find((field) => field.name === 'lines');
  return h('section', {}, [
    h(Notice, { error: loaded.error, onRetry: loaded.reload }),
    lines &&
      h('div', {}, [
        h('h2', {}, `${subjectLabel(name)} ${id}: ${fieldLabel('lines')}`),
        h(Table, {
          caption: fieldLabel('lines'),
          columns: lines.items?.fields ?? [],
          rows: loaded.result?.data.lines ?? [],
        }),
      ]),
  ]);
}

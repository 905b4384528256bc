/**
 * The request that an approval decides on, next to the goods that it concerns.
 */

import { calls, permissions } from '../../core/app.js';
import { readable } from '../../core/links.js';
import { operationOf } from '../../core/request.js';
import { itemPath } from '../../core/subject.js';
import { loadInterface, useLoaded } from '../../core/use.js';
import { actionLabel, fieldLabel, subjectLabel, text, valueLabel } from '../../core/words.js';
import { SUBJECT, SUBJECT_OF_KIND } from '../../subjects.js';
import { h } from '../../vendor/preact.js';
import { Lazy } from '../../components/lazy.js';
import { Notice } from '../../components/notice.js';
import { Parts } from '../../components/parts.js';
import { Table } from '../../components/table.js';

/**
 * @typedef {import('../../core/subject.js').Subject} Subject
 * @typedef {Record<string, any>} Body of the request
 */

/**
 * @param {object} props
 * @param {Record<string, any>} props.resource
 * @param {() => void} props.onChange
 */
export function Panel({ resource: approval, onChange }) {
  const { request, resource } = approval;
  const name = SUBJECT_OF_KIND[resource.object] ?? '';
  const body = request.body ?? {};
  return h('section', {}, [
    h('h2', {}, text('what_is_asked')),
    h(Asked, { request, body }),
    approval.status === 'granted' &&
      h(Lazy, {
        load: () => import('../../components/granted.js'),
        name: 'CarryOut',
        props: { approval, onDone: onChange },
      }),
    approval.status === 'pending' &&
      !permissions().has('approvals.grant') &&
      h('p', { class: 'quiet' }, text('others_decide')),
    name === 'products' ? h(StockThere, { body }) : SUBJECT.has(name) && h(Goods, { name, id: resource.id, body }),
  ]);
}

/**
 * The action and its values, in words.
 *
 * @param {object} props
 * @param {{method: string, path: string}} props.request
 * @param {Body} props.body
 */
function Asked({ request, body }) {
  const own = request.path.split('/')[1] ?? '';
  const { result } = useLoaded(own, () => loadInterface(own));
  if (result === null) {
    return null;
  }
  const operation = operationOf(Object.keys(result.actions), request);
  const write = operation === undefined ? undefined : result.actions[operation];
  return h('div', { class: 'asked' }, [
    write && h('p', {}, h('strong', {}, actionLabel(write.name))),
    h(Parts, { fields: write?.body ?? [], values: body }),
  ]);
}

/**
 * The lines of what the request would change; of a receipt, also what was ordered.
 *
 * @param {object} props
 * @param {string} props.name subject
 * @param {number} props.id
 * @param {Body} props.body
 */
function Goods({ name, id, body }) {
  const subject = /** @type {Subject} */ (SUBJECT.get(name));
  const loaded = useLoaded(`${name} ${id}`, async (signal) => {
    const operation = /** @type {'GET /products/{id}'} */ (`GET ${itemPath(subject)}`);
    const [description, { body: answer }] = await Promise.all([
      loadInterface(name),
      calls.read(operation, { parameters: { id }, signal }),
    ]);
    const fields = description.details[itemPath(subject)]?.fields ?? [];
    return { fields, data: /** @type {Record<string, any>} */ (answer.data) };
  });
  const lines = loaded.result?.fields.find((field) => field.name === 'lines');
  const { data = {} } = loaded.result ?? {};
  const own = (data.lines ?? []).filter(
    (/** @type {Body} */ line) => !body.item_code || line.item_code === body.item_code,
  );
  return h('section', {}, [
    h(Notice, { error: loaded.error, onRetry: loaded.reload }),
    lines && own.length > 0 &&
      h('div', {}, [
        h('h3', {}, `${valueLabel(subject.kind)} ${data.code ?? data.doc_num ?? id}`),
        h(Table, { caption: fieldLabel('lines'), columns: readable(lines.items?.fields ?? []), rows: own }),
      ]),
    name === 'receipts' && data.document && h(Goods, { name: 'entry-documents', id: data.document.id, body }),
  ]);
}

/**
 * The stock that an adjustment would change.
 *
 * @param {object} props
 * @param {Body} props.body
 */
function StockThere({ body }) {
  const { item_code: item = null, warehouse = null, bin_code: bin = null } = body;
  const query = { item_code: item, warehouse, bin_code: bin, per_page: 100 };
  const loaded = useLoaded(`stocks ${JSON.stringify(query)}`, async (signal) => {
    const [description, { body: page }] = await Promise.all([
      loadInterface('stocks'),
      calls.read('GET /stocks', { query, signal }),
    ]);
    return { fields: description.lists['/stocks']?.fields ?? [], rows: page.data };
  });
  const columns = (SUBJECT.get('stocks')?.columns ?? []).flatMap(
    (name) => loaded.result?.fields.filter((field) => field.name === name) ?? [],
  );
  return h('section', {}, [
    h(Notice, { error: loaded.error, onRetry: loaded.reload }),
    loaded.result &&
      h('div', {}, [
        h('h3', {}, subjectLabel('stocks')),
        h(Table, { caption: subjectLabel('stocks'), columns, rows: loaded.result.rows }),
      ]),
  ]);
}

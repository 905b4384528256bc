/**
 * The packaging of a product: weight, measures, GTINs and units of measure.
 */

import { calls, permissions } from '../../core/app.js';
import { mayCarryOut } from '../../core/subject.js';
import { useLoaded } from '../../core/use.js';
import { actionLabel, fieldLabel, subjectLabel } from '../../core/words.js';
import { useState } from '../../vendor/hooks.js';
import { h } from '../../vendor/preact.js';
import { Lazy } from '../../components/lazy.js';
import { Notice } from '../../components/notice.js';
import { Definitions } from '../../components/definitions.js';
import { Table } from '../../components/table.js';

const CHANGE = 'PUT /products/{id}/packaging';

/**
 * @param {object} props
 * @param {Record<string, any>} props.resource
 * @param {import('../../core/subject.js').Interface} props.description
 * @param {() => void} props.onChange reads the product again, whose time of change is that of its packaging
 */
export function Panel({ resource: { id, updated_at: version }, description, onChange }) {
  const loaded = useLoaded(`packaging ${id} ${version}`, (signal) =>
    calls.read('GET /products/{id}/packaging', { parameters: { id }, signal }),
  );
  const [isChanging, setChanging] = useState(false);
  const write = description.actions[CHANGE];
  const label = actionLabel(write?.name ?? CHANGE);
  const fields = write?.body ?? [];
  if (loaded.result === null) {
    return h(Notice, { error: loaded.error, onRetry: loaded.reload });
  }
  const packaging = /** @type {Record<string, any>} */ (loaded.result.body.data);
  const { etag } = loaded.result;
  return h('section', {}, [
    h('h2', {}, subjectLabel('packaging')),
    h(Definitions, { fields: fields.filter(({ type }) => type !== 'array'), values: packaging }),
    fields
      .filter(({ name, type }) => type === 'array' && packaging[name].length > 0)
      .map(({ name, items }) => [
        h('h3', {}, fieldLabel(name)),
        h(Table, { caption: fieldLabel(name), columns: items?.fields ?? [], rows: packaging[name] }),
      ]),
    mayCarryOut(write, permissions()) &&
      h('button', { type: 'button', onClick: () => setChanging(true) }, label),
    isChanging &&
      h(Lazy, {
        load: () => import('../dialogs.js'),
        name: 'ChangeDialog',
        props: {
          operation: CHANGE,
          parameters: { id },
          fields,
          resource: packaging,
          etag,
          label,
          onStale: onChange,
          onClose: () => setChanging(false),
          onDone: () => {
            setChanging(false);
            onChange();
          },
        },
      }),
  ]);
}

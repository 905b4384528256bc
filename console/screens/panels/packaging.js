/**
 * The packaging of a product: weight, measures and GTINs.
 */

import { calls, permissions } from '../../core/app.js';
import { mayCarryOut } from '../../core/subject.js';
import { useLoaded } from '../../core/use.js';
import { actionLabel, fieldLabel, subjectLabel, text } from '../../core/words.js';
import { useState } from '../../vendor/hooks.js';
import { h } from '../../vendor/preact.js';
import { ChangeForm } from '../../components/change.js';
import { Dialog } from '../../components/dialog.js';
import { useAction } from '../../components/form.js';
import { Notice } from '../../components/notice.js';
import { Table } from '../../components/table.js';
import { plain } from '../../components/value.js';

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
  const action = useAction();
  const write = description.actions[CHANGE];
  const label = actionLabel(write?.name ?? CHANGE);
  const fields = write?.body ?? [];
  if (loaded.result === null) {
    return h(Notice, { error: loaded.error, onRetry: loaded.reload });
  }
  const packaging = /** @type {Record<string, any>} */ (loaded.result.body.data);
  const { etag } = loaded.result;
  const gtins = fields.find(({ name }) => name === 'gtins')?.items?.fields ?? [];
  return h('section', {}, [
    h('h2', {}, subjectLabel('packaging')),
    h(
      'dl',
      {},
      fields
        .filter(({ type }) => type !== 'array')
        .map((field) =>
          h('div', { key: field.name }, [
            h('dt', {}, fieldLabel(field.name)),
            h('dd', {}, plain(field, packaging[field.name]) || text('not_set')),
          ]),
        ),
    ),
    packaging.gtins.length > 0 &&
      h(Table, { caption: fieldLabel('gtins'), columns: gtins, rows: packaging.gtins }),
    mayCarryOut(write, permissions()) &&
      h('button', { type: 'button', onClick: () => setChanging(true) }, label),
    isChanging &&
      h(
        Dialog,
        {
          title: label,
          onClose: () => setChanging(false),
          isFixed: action.isBusy || action.isOpen,
        },
        h(ChangeForm, {
          operation: CHANGE,
          parameters: { id },
          fields,
          resource: packaging,
          etag,
          label,
          action,
          onStale: onChange,
          onCancel: () => setChanging(false),
          onDone: () => {
            setChanging(false);
            onChange();
          },
        }),
      ),
  ]);
}

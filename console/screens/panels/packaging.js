/**
 * The packaging of a product: weight, measures and GTINs.
 */

import { calls, permissions, say } from '../../core/app.js';
import { bodyOf, draftOf } from '../../core/draft.js';
import { mayCarryOut } from '../../core/subject.js';
import { useLoaded } from '../../core/use.js';
import { fieldLabel, subjectLabel, text } from '../../core/words.js';
import { useState } from '../../vendor/hooks.js';
import { h } from '../../vendor/preact.js';
import { Dialog } from '../../components/dialog.js';
import { Form, useAction } from '../../components/form.js';
import { Notice } from '../../components/notice.js';
import { Table } from '../../components/table.js';
import { plain } from '../../components/value.js';

const CHANGE = 'PUT /products/{id}/packaging';

/**
 * @param {object} props
 * @param {Record<string, any>} props.resource
 * @param {import('../../core/subject.js').Interface} props.description
 */
export function Panel({ resource: { id }, description }) {
  const loaded = useLoaded(`packaging ${id}`, (signal) =>
    calls.read('GET /products/{id}/packaging', { parameters: { id }, signal }),
  );
  const [isChanging, setChanging] = useState(false);
  const action = useAction();
  const write = description.actions[CHANGE];
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
      h('button', { type: 'button', onClick: () => setChanging(true) }, text('change')),
    isChanging &&
      h(
        Dialog,
        {
          title: subjectLabel('packaging'),
          onClose: () => setChanging(false),
          isFixed: action.isBusy || action.isOpen,
        },
        h(Form, {
          fields,
          start: draftOf(fields, packaging),
          label: text('save'),
          action,
          onCancel: () => setChanging(false),
          onSubmit: async (draft) => {
            const answer = await action.carryOut(CHANGE, { id }, bodyOf(fields, draft), etag);
            if (answer !== null) {
              say(text('done', { action: text('change') }));
              setChanging(false);
              loaded.reload();
            }
          },
        }),
      ),
  ]);
}

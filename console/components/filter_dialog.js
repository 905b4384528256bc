/**
 * The form with the filters of a list.
 */

import { bodyOf, draftOf } from '../core/draft.js';
import { text } from '../core/words.js';
import { useState } from '../vendor/hooks.js';
import { h } from '../vendor/preact.js';
import { Dialog } from './dialog.js';
import { Fields } from './fields.js';
import { inputOf } from './inputs.js';

/**
 * @param {object} props
 * @param {readonly import('../core/subject.js').Field[]} props.fields
 * @param {Readonly<Record<string, string>>} props.query
 * @param {() => void} props.onClose
 * @param {(changes: Record<string, string | null>) => void} props.onApply
 */
export function FilterDialog({ fields, query, onClose, onApply }) {
  // a filter that takes several values has them with commas in between
  const valueOf = (/** @type {import('../core/subject.js').Field} */ { name, type }) =>
    type === 'array' ? query[name]?.split(',') : query[name];
  const [draft, setDraft] = useState(() => draftOf(fields, Object.fromEntries(fields.map((field) => [field.name, valueOf(field)]))));
  const apply = () => {
    const values = bodyOf(fields, draft);
    const changes = fields.map(({ name }) => [name, values[name] == null ? null : String(values[name])]);
    onApply(Object.fromEntries(changes));
  };
  return h(Dialog, { title: text('filters'), onClose }, [
    h(
      'form',
      {
        onSubmit: (/** @type {Event} */ event) => {
          event.preventDefault();
          apply();
        },
      },
      [
        h(Fields, {
          fields: fields.map((field) => ({ ...field, isRequired: false })),
          draft,
          onChange: setDraft,
          problems: [],
          inputOf,
        }),
        h('footer', {}, [
          h('button', { type: 'button', onClick: () => setDraft({}) }, text('clear')),
          h('button', { class: 'main' }, text('apply')),
        ]),
      ],
    ),
  ]);
}

/**
 * The filters of a list: those that are set, and the dialog that sets them.
 */

import { fieldLabel, text } from '../core/words.js';
import { useState } from '../vendor/hooks.js';
import { h } from '../vendor/preact.js';
import { Lazy } from './lazy.js';
import { plain } from './value.js';

/** @typedef {import('../core/subject.js').Field} Field */

/**
 * @param {object} props
 * @param {import('../core/subject.js').List} props.list
 * @param {Readonly<Record<string, string>>} props.query
 * @param {(changes: Record<string, string | null>) => void} props.onApply
 */
export function Filters({ list, query, onApply }) {
  const [isOpen, setOpen] = useState(false);
  const fields = list.filters.filter(({ name }) => name !== 'search');
  const active = fields.filter(({ name }) => query[name]);
  /** @param {Field} field */
  const asked = (field) => {
    const value = query[field.name] ?? '';
    if (field.type === 'boolean') {
      return text(value === 'true' ? 'yes' : 'no');
    }
    if (field.type === 'array') {
      return plain(field, value.split(','));
    }
    return ['choice', 'date', 'date-time'].includes(field.type) ? plain(field, value) : value;
  };
  if (fields.length === 0) {
    return null;
  }
  return h('div', { class: 'filters' }, [
    h('button', { type: 'button', onClick: () => setOpen(true) }, text('filters')),
    ...active.map((field) =>
      h(
        'button',
        {
          key: field.name,
          type: 'button',
          class: 'chip',
          title: text('remove'),
          onClick: () => onApply({ [field.name]: null }),
        },
        `${fieldLabel(field.name)}: ${asked(field)} ✕`,
      ),
    ),
    isOpen &&
      h(Lazy, {
        load: () => import('./filter_dialog.js'),
        name: 'FilterDialog',
        props: {
          fields,
          query,
          onClose: () => setOpen(false),
          onApply: (/** @type {Record<string, string | null>} */ changes) => {
            setOpen(false);
            onApply(changes);
          },
        },
      }),
  ]);
}

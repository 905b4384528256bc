/**
 * The fields of a form, made from the schema of a body, and the input of a single value.
 *
 * A draft has the texts of the inputs: what a person writes is not changed while it is written.
 * `bodyOf` makes the body of it.
 */

import { useId, useState } from '../vendor/hooks.js';
import { fieldHint, fieldLabel, text, valueLabel } from '../core/words.js';
import { h } from '../vendor/preact.js';
import { hasSuggestions, Suggestions } from './suggestions.js';

/**
 * @typedef {import('../core/subject.js').Field} Field
 * @typedef {import('../core/refusal.js').Problem} Problem
 * @typedef {string | boolean | string[] | Draft | Draft[] | File} Entry
 * @typedef {{[name: string]: Entry}} Draft
 */

/** Characters from which on a text gets several lines. */
const LONG = 1000;

/**
 * @param {object} props
 * @param {readonly Field[]} props.fields
 * @param {Draft} props.draft
 * @param {(draft: Draft) => void} props.onChange
 * @param {readonly Problem[]} props.problems
 * @param {string} [props.path] of the object in the body, such as `lines.0.`
 * @param {(field: Field) => (props: InputProps) => any} [props.inputOf] chooses the input of a field;
 *   a filter has one for a value
 * @param {(row: Draft) => any} [props.noteOf] returns what is shown below each row of the fields
 */
export function Fields({ fields, draft, onChange, problems, path = '', inputOf = () => PlainInput, noteOf }) {
  return fields.map((field) =>
    h(inputOf(field), {
      key: field.name,
      field,
      entry: draft[field.name],
      onChange: (/** @type {Entry} */ entry) => onChange({ ...draft, [field.name]: entry }),
      problems,
      path: path + field.name,
      draft,
      noteOf,
    }),
  );
}

/**
 * @typedef {object} InputProps
 * @property {Field} field
 * @property {Entry | undefined} entry
 * @property {(entry: Entry) => void} onChange
 * @property {readonly Problem[]} problems
 * @property {string} path
 * @property {Draft} [draft] with the fields beside it
 * @property {(row: Draft) => any} [noteOf]
 */

/** @param {InputProps} props */
export function PlainInput({ field, entry, onChange, problems, path }) {
  const id = useId();
  const own = problems.filter((one) => one.field === path || one.field.startsWith(`${path}.`));
  const isLines = field.type === 'array';
  const hint = fieldHint(field.name);
  const notes = [
    ...own.map(({ message }) => message),
    ...(isLines ? [text('one_per_line')] : []),
    ...(hint === null ? [] : [hint]),
  ];
  const [isFocused, setFocused] = useState(false);
  const written = writtenOf(entry);
  const isSuggested = isFocused && hasSuggestions(field.name) && !isLines;
  const common = {
    id,
    list: isSuggested ? `${id}-list` : undefined,
    onFocus: () => setFocused(true),
    onBlur: () => setFocused(false),
    name: path,
    required: field.isRequired === true && field.type !== 'boolean',
    'aria-invalid': own.length > 0,
    'aria-describedby': notes.length > 0 ? `${id}-notes` : undefined,
    onInput: (/** @type {any} */ { target }) => onChange(target.files?.[0] ?? entered(target)),
  };
  return h('div', { class: `field ${field.type}` }, [
    h('label', { for: id }, [
      fieldLabel(field.name),
      field.isRequired && h(Required, {}),
    ]),
    input(field, entry, common),
    field.suggested && h(Suggested, { suggested: field.suggested, onChange }),
    isSuggested &&
      h(Suggestions, { id: `${id}-list`, field: field.name, written }),
    notes.length > 0 &&
      h('p', { id: `${id}-notes`, class: own.length > 0 ? 'problem' : 'quiet' }, notes.join(' ')),
  ]);
}

/**
 * @param {object} props
 * @param {NonNullable<Field['suggested']>} props.suggested
 * @param {(entry: Entry) => void} props.onChange
 */
function Suggested({ suggested, onChange }) {
  return h(
    'div',
    { class: 'suggested' },
    suggested.map(({ value, label }) =>
      h('button', { key: value, type: 'button', onClick: () => onChange(value) }, label),
    ),
  );
}

export function Required() {
  return h('span', { class: 'quiet' }, ` (${text('required')})`);
}

/** @param {Entry | undefined} entry */
function writtenOf(entry) {
  return typeof entry === 'string' ? entry : Array.isArray(entry) ? entry.join('\n') : '';
}

/**
 * @param {Field} field
 * @param {Entry | undefined} entry
 * @param {Record<string, unknown>} common
 */
function input(field, entry, common) {
  const value = writtenOf(entry);
  switch (field.type) {
    case 'boolean':
      return h('select', { ...common, value }, [
        h('option', { value: '' }, text('not_set')),
        h('option', { value: 'true' }, text('yes')),
        h('option', { value: 'false' }, text('no')),
      ]);
    case 'choice':
      return h('select', { ...common, value }, [
        h('option', { value: '' }, text('not_set')),
        ...(field.choices ?? []).map((choice) =>
          h('option', { key: choice, value: String(choice) }, valueLabel(choice, field.name)),
        ),
      ]);
    case 'array':
      return h('textarea', { ...common, rows: 4, value });
    case 'number':
    case 'integer':
      return h('input', { ...common, value, inputMode: 'decimal', autocomplete: 'off' });
    case 'file':
      return h('input', { ...common, type: 'file', accept: '.csv,.xlsx' });
    case 'date':
      return h('input', { ...common, value, type: 'date' });
    case 'date-time':
      return h('input', { ...common, value, type: 'datetime-local', step: 1 });
    default:
      return (field.maxLength ?? 0) >= LONG && !field.name.endsWith('url')
        ? h('textarea', { ...common, rows: 3, value, maxLength: field.maxLength })
        : h('input', { ...common, value, type: inputType(field), maxLength: field.maxLength });
  }
}

/** @param {Field} field */
function inputType(field) {
  return field.name.endsWith('password') ? 'password' : 'text';
}

/** @param {EventTarget | null} target */
export function entered(target) {
  const isInput =
    target instanceof HTMLInputElement ||
    target instanceof HTMLSelectElement ||
    target instanceof HTMLTextAreaElement;
  return isInput ? target.value : '';
}


/**
 * The fields of a form, made from the schema of a body.
 *
 * A draft has the texts of the inputs: what a person writes is not changed while it is written.
 * `bodyOf` makes the body of it.
 */

import { calls } from '../core/app.js';
import { useLoaded } from '../core/use.js';
import { useId, useMemo, useRef, useState } from '../vendor/hooks.js';
import { fieldHint, fieldLabel, text, valueLabel } from '../core/words.js';
import { h } from '../vendor/preact.js';
import { hasSuggestions, Suggestions, useSearched } from './suggestions.js';

/**
 * @typedef {import('../core/subject.js').Field} Field
 * @typedef {import('../core/refusal.js').Problem} Problem
 * @typedef {string | boolean | string[] | Draft | Draft[]} Entry
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
 */
export function Fields({ fields, draft, onChange, problems, path = '' }) {
  return fields.map((field) =>
    h(FieldInput, {
      key: field.name,
      field,
      entry: draft[field.name],
      onChange: (/** @type {Entry} */ entry) => onChange({ ...draft, [field.name]: entry }),
      problems,
      path: path + field.name,
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
 */

/** @param {InputProps} props */
function FieldInput(props) {
  const { field } = props;
  if (field.type === 'object') {
    return h(ObjectInput, props);
  }
  if (field.type === 'texts') {
    return h(TextsInput, props);
  }
  if (field.type === 'array' && field.items?.type === 'object') {
    return h(RowsInput, props);
  }
  if (field.type === 'array' && field.items?.type === 'choice') {
    const choices = (field.items.choices ?? []).map((choice) => ({
      value: String(choice),
      label: valueLabel(choice),
    }));
    return h(ChoicesInput, { ...props, choices });
  }
  if (field.name === 'roles') {
    return h(RolesInput, props);
  }
  return h(PlainInput, props);
}

/** @param {InputProps} props */
function PlainInput({ field, entry, onChange, problems, path }) {
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
    onInput: (/** @type {Event} */ event) => onChange(entered(event.target)),
  };
  return h('div', { class: `field ${field.type}` }, [
    h('label', { for: id }, [
      fieldLabel(field.name),
      field.isRequired && h(Required, {}),
    ]),
    input(field, entry, common),
    isSuggested &&
      h(Suggestions, { id: `${id}-list`, field: field.name, written }),
    notes.length > 0 &&
      h('p', { id: `${id}-notes`, class: own.length > 0 ? 'problem' : 'quiet' }, notes.join(' ')),
  ]);
}

function Required() {
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
          h('option', { key: choice, value: String(choice) }, valueLabel(choice)),
        ),
      ]);
    case 'array':
      return h('textarea', { ...common, rows: 4, value });
    case 'number':
    case 'integer':
      return h('input', { ...common, value, inputMode: 'decimal', autocomplete: 'off' });
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
function entered(target) {
  const isInput =
    target instanceof HTMLInputElement ||
    target instanceof HTMLSelectElement ||
    target instanceof HTMLTextAreaElement;
  return isInput ? target.value : '';
}

/**
 * The roles of a user: those that are chosen, and those that a search finds.
 *
 * @param {InputProps} props
 */
function RolesInput(props) {
  const [written, setWritten] = useState('');
  const { rows, total } = useSearched('roles', written, 'name');
  const chosen = Array.isArray(props.entry) ? props.entry.map(String) : [];
  const names = useRef(/** @type {Map<string, string>} */ (new Map())).current;
  const kept = useRef(/** @type {Set<string>} */ (new Set())).current; // also after they are taken away
  chosen.forEach((id) => kept.add(id));
  rows.forEach(({ id, name }) => names.set(String(id), name));
  const nameless = chosen.filter((id) => !names.has(id));
  useLoaded(`roles ${nameless}`, (signal) =>
    Promise.all(
      nameless.map(async (id) => {
        const { body } = await calls.read('GET /roles/{id}', { parameters: { id }, signal });
        names.set(id, body.data.name);
      }),
    ),
  );
  const found = rows.map(({ id }) => String(id));
  const choices = [...[...kept].filter((id) => !found.includes(id)), ...found].map((id) => ({
    value: id,
    label: names.get(id) ?? id,
  }));
  const search = (written !== '' || total > rows.length) &&
    h('input', {
      type: 'search',
      'aria-label': text('search'),
      placeholder: text('search'),
      value: written,
      onInput: (/** @type {Event} */ event) => setWritten(entered(event.target)),
      onKeyDown: (/** @type {KeyboardEvent} */ event) => {
        if (event.key === 'Enter') {
          event.preventDefault(); // it does not send the form
        }
      },
    });
  return h(ChoicesInput, { ...props, choices, search });
}

/**
 * @param {InputProps & {
 *   choices: readonly {value: string, label: string}[],
 *   search?: import('../vendor/preact.js').ComponentChildren,
 * }} props `search` finds other choices
 */
function ChoicesInput({ field, entry, onChange, problems, path, choices, search }) {
  const chosen = Array.isArray(entry) ? /** @type {string[]} */ (entry) : [];
  const own = problems.filter((one) => one.field === path || one.field.startsWith(`${path}.`));
  /** @param {string} choice */
  const toggled = (choice) =>
    chosen.includes(choice) ? chosen.filter((one) => one !== choice) : [...chosen, choice];
  return h('fieldset', { class: 'choices' }, [
    h('legend', {}, fieldLabel(field.name)),
    search,
    ...choices.map(({ value, label }) =>
      h('label', { key: value }, [
        h('input', {
          type: 'checkbox',
          checked: chosen.includes(value),
          onChange: () => onChange(toggled(value)),
        }),
        label,
      ]),
    ),
    own.length > 0 && h('p', { class: 'problem' }, own.map(({ message }) => message).join(' ')),
  ]);
}

/** @param {InputProps} props */
function ObjectInput({ field, entry, onChange, problems, path }) {
  const draft = /** @type {Draft} */ (entry ?? {});
  return h('fieldset', {}, [
    h('legend', {}, fieldLabel(field.name)),
    h(Fields, { fields: field.fields ?? [], draft, onChange, problems, path: `${path}.` }),
  ]);
}

/** The fields of a row of `texts`. */
const TEXT = /** @type {const} */ ([
  { name: 'name', type: 'text', isRequired: true, maxLength: 40 },
  { name: 'value', type: 'text', maxLength: 500 },
]);

/**
 * Texts by names: a row for each. The problem of a name stands at its row.
 *
 * @param {InputProps} props
 */
function TextsInput({ field, entry, problems, path, ...props }) {
  const rows = Array.isArray(entry) ? /** @type {Draft[]} */ (entry) : [];
  const placed = useMemo(
    () =>
      problems.map((problem) => {
        const at = rows.findIndex(({ name }) => problem.field === `${path}.${String(name ?? '').trim()}`);
        return at === -1 ? problem : { ...problem, field: `${path}.${at}.value` };
      }),
    [problems],
  );
  /** @type {Field} */
  const ofRows = { ...field, type: 'array', items: { type: 'object', fields: TEXT } };
  return h(RowsInput, { ...props, field: ofRows, entry: rows, problems: placed, path });
}

/** @param {InputProps} props */
function RowsInput({ field, entry, onChange, problems, path }) {
  const first = /** @type {Draft[]} */ (field.isRequired ? [{}] : []);
  const rows = Array.isArray(entry) ? /** @type {Draft[]} */ (entry) : first;
  const own = problems.filter((one) => one.field === path);
  // problems that name rows by old numbers
  const [outdated, setOutdated] = useState(/** @type {readonly Problem[] | null} */ (null));
  const current = problems === outdated ? [] : problems;
  return h('fieldset', { class: 'rows' }, [
    h('legend', {}, [fieldLabel(field.name), field.isRequired && h(Required, {})]),
    own.length > 0 && h('p', { class: 'problem' }, own.map(({ message }) => message).join(' ')),
    ...rows.map((row, index) => {
      const start = `${path}.${index}.`;
      const shown = inputsOf(field, row);
      const ofRow = current
        .map((one) => ({ ...one, at: `${one.field}.` }))
        .filter(({ at }) => at.startsWith(start) && !shown.some(({ name }) => at.startsWith(`${start}${name}.`)));
      return h('fieldset', { key: index, class: 'row' }, [
        h('legend', {}, row.line_num ? `${row.line_num} · ${row.item_code}` : String(index + 1)),
        ofRow.length > 0 && h('p', { class: 'problem' }, ofRow.map(({ message }) => message).join(' ')),
        h(Fields, {
          fields: shown,
          draft: row,
          onChange: (changed) => onChange(rows.map((one, at) => (at === index ? changed : one))),
          problems: current,
          path: start,
        }),
        !row.line_num && h(
          'button',
          {
            type: 'button',
            onClick: () => {
              setOutdated(problems);
              onChange(rows.filter((_, at) => at !== index));
            },
          },
          text('remove'),
        ),
      ]);
    }),
    h('button', { type: 'button', onClick: () => onChange([...rows, {}]) }, text('add')),
  ]);
}

/**
 * @param {Field} field
 * @param {Draft} row
 */
function inputsOf({ items }, { line_num: number }) {
  return (items?.fields ?? []).filter(({ name }) => (number ? name === 'qty' : name !== 'line_num'));
}

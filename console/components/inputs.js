/**
 * The inputs of fields with parts: objects, rows, and choices.
 */

import { calls } from '../core/app.js';
import { useLoaded } from '../core/use.js';
import { fieldLabel, text, valueLabel } from '../core/words.js';
import { useEffect, useMemo, useRef, useState } from '../vendor/hooks.js';
import { h } from '../vendor/preact.js';
import { entered, Fields, PlainInput, Required } from './fields.js';
import { Lazy } from './lazy.js';
import { useSearched } from './suggestions.js';

/**
 * @typedef {import('./fields.js').Draft} Draft
 * @typedef {import('./fields.js').Field} Field
 * @typedef {import('./fields.js').InputProps} InputProps
 * @typedef {import('./fields.js').Problem} Problem
 */

/**
 * @param {Field} field
 * @returns {(props: InputProps) => any} the input of a field of a form
 */
export function inputOf({ name, type, items }) {
  if (type === 'object') {
    return ObjectInput;
  }
  if (type === 'texts') {
    return TextsInput;
  }
  if (type === 'array' && items?.type === 'object') {
    return RowsInput;
  }
  if (type === 'array' && items?.type === 'choice') {
    return ChoiceInput;
  }
  if (name === 'positions' && type === 'array') {
    return PositionsInput;
  }
  return name === 'roles' ? RolesInput : PlainInput;
}

/** @param {InputProps} props */
function PositionsInput(props) {
  const load = () => import('./position_range.js');
  return [h(PlainInput, props), h(Lazy, { load, name: 'PositionRange', props })];
}

/** @param {InputProps} props */
function ChoiceInput(props) {
  const choices = (props.field.items?.choices ?? []).map((choice) => ({
    value: String(choice),
    label: valueLabel(choice),
  }));
  return h(ChoicesInput, { ...props, choices });
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
    h(Fields, { fields: field.fields ?? [], draft, onChange, problems, path: `${path}.`, inputOf }),
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
function RowsInput({ field, entry, onChange, problems, path, noteOf }) {
  const first = /** @type {Draft[]} */ (field.isRequired ? [{}] : []);
  const rows = Array.isArray(entry) ? /** @type {Draft[]} */ (entry) : first;
  const own = problems.filter((one) => one.field === path);
  // problems that name rows by old numbers
  const [outdated, setOutdated] = useState(/** @type {readonly Problem[] | null} */ (null));
  const current = problems === outdated ? [] : problems;
  const fieldset = useRef(/** @type {HTMLFieldSetElement | null} */ (null));
  const isAdding = useRef(false);
  useEffect(() => {
    if (isAdding.current) {
      const added = [...(fieldset.current?.querySelectorAll(':scope > .row') ?? [])].at(-1);
      /** @type {HTMLElement | null | undefined} */ (added?.querySelector('input, select'))?.focus();
    }
    isAdding.current = false;
  }, [rows.length]);
  return h('fieldset', { class: 'rows', ref: fieldset }, [
    h('legend', {}, [fieldLabel(field.name), field.isRequired && h(Required, {})]),
    own.length > 0 && h('p', { class: 'problem' }, own.map(({ message }) => message).join(' ')),
    rows.some(({ line_num: number }) => number) && h('p', { class: 'quiet' }, text('zero_gives_up')),
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
          inputOf,
        }),
        noteOf?.(row),
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
    h(
      'button',
      {
        type: 'button',
        onClick: () => {
          isAdding.current = true;
          onChange([...rows, {}]);
        },
      },
      text('add'),
    ),
  ]);
}

/**
 * @param {Field} field
 * @param {Draft} row
 */
function inputsOf({ items }, { line_num: number }) {
  return (items?.fields ?? []).filter(({ name }) => (number ? name === 'qty' : name !== 'line_num'));
}

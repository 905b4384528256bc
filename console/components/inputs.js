/**
 * The inputs of fields with parts: objects, rows, and choices.
 */

import { fieldLabel, valueLabel } from '../core/words.js';
import { useMemo } from '../vendor/hooks.js';
import { h } from '../vendor/preact.js';
import { Fields, PlainInput } from './fields.js';
import { Lazy } from './lazy.js';
import { RowsInput } from './rows.js';

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
  return SEVERAL.has(name) ? SeveralInput : PlainInput;
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
    label: valueLabel(choice, props.field.name),
  }));
  return h(ChoicesInput, { ...props, choices });
}

/** Fields with ids of several resources, which a person knows by names. */
const SEVERAL = new Set(['document_ids', 'picking_ids', 'roles']);

/** @param {InputProps} props */
function SeveralInput(props) {
  return h(Lazy, { load: () => import('./several.js'), name: 'SeveralInput', props });
}

/**
 * @param {InputProps & {
 *   choices: readonly {value: string, label: string}[],
 *   search?: import('../vendor/preact.js').ComponentChildren,
 * }} props `search` finds other choices
 */
export function ChoicesInput({ field, entry, onChange, problems, path, choices, search }) {
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

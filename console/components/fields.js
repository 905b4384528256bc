/**
 * The fields of a form, made from the schema of a body, and the input of a single value.
 *
 * A draft has the texts of the inputs: what a person writes is not changed while it is written.
 * `bodyOf` makes the body of it.
 */

import { address } from '../core/address.js';
import { say } from '../core/app.js';
import { chosenOf, sourcesOf } from '../core/sources.js';
import { imported } from '../core/use.js';
import { fieldHint, fieldLabel, text, valueLabel } from '../core/words.js';
import { useContext, useEffect, useId, useRef, useState } from '../vendor/hooks.js';
import { createContext, h } from '../vendor/preact.js';
import { Lazy } from './lazy.js';
import { errorText } from './notice.js';
import { Suggestions, useChoices, useNames } from './suggestions.js';

/**
 * @typedef {import('../core/subject.js').Field} Field
 * @typedef {import('../core/refusal.js').Problem} Problem
 * @typedef {string | boolean | string[] | Draft | Draft[] | File} Entry
 * @typedef {{[name: string]: Entry}} Draft
 */

/** Characters from which on a text gets several lines. */
const LONG = 1000;

/** What inputs know beside their object: the draft of the whole form, and what it is about. */
const Around = createContext(/** @type {import('../core/sources.js').Around} */ ({ draft: {}, resource: {} }));

/** Fields in which a product is scanned. */
const SCANNED = new Set(['item_code', 'item_codes', 'gtin']);

/** Characters of the longest scan: an element string has more than the code of a product. */
const LONGEST_SCAN = 255;

/**
 * @param {object} props
 * @param {readonly Field[]} props.fields
 * @param {Draft} props.draft
 * @param {(draft: Draft) => void} props.onChange
 * @param {readonly Problem[]} props.problems
 * @param {string} [props.path] of the object in the body, such as `lines.0.`
 * @param {(field: Field) => (props: InputProps) => any} [props.inputOf] chooses the input of a field;
 *   without it, each has one for a value
 * @param {(row: Draft) => any} [props.noteOf] returns what is shown below each row of the fields
 * @param {Record<string, any>} [props.resource] that a form is about
 * @param {(input: any, field: Field) => any} [props.placed] puts an input into a table, whose head has
 *   its label; false if it is not shown
 */
export function Fields({ fields, draft, onChange, problems, path = '', ...props }) {
  const { inputOf = () => PlainInput, noteOf, resource = {}, placed } = props;
  const latest = useRef({ draft, onChange });
  latest.current = { draft, onChange };
  useEffect(() => () => {
    latest.current.onChange = () => undefined; // an answer that comes after a row is removed, or the form is sent
  }, []);
  /** @param {Draft} changes of fields that there are */
  const fill = (changes) => {
    const known = Object.entries(changes).filter(([name]) => fields.some((field) => field.name === name));
    latest.current.onChange({ ...latest.current.draft, ...Object.fromEntries(known) });
  };
  const isProduct = fields.some(({ name }) => name === 'barcode'); // its code is its own
  const isAtLine = Boolean(draft.item_code) && !fields.some(({ name }) => name === 'item_code');
  /** @param {Field} field */
  const scanner = ({ name, type }) => async (/** @type {HTMLInputElement} */ input) => {
    const line = lineOf(input);
    try {
      const { takeBatch, takeLine, takeScan } = await imported(() => import('./scan.js'));
      const scan = { input, line, name, path, fields, draftNow: () => latest.current.draft, fill };
      await (type === 'array' ? takeLine : name === 'batch' ? takeBatch : takeScan)(scan);
    } catch (error) {
      say(errorText(error));
    }
  };
  const inputs = fields.map(withChoices).map((field) => {
    const { name } = field;
    const input = h(inputOf(field), {
      key: name,
      field,
      entry: draft[name],
      onChange: (/** @type {Entry} */ entry) => onChange({ ...draft, [name]: entry }),
      problems,
      path: path + name,
      draft,
      noteOf,
      inputOf,
      isInCell: placed !== undefined,
      onFill: fill,
      onScan: (SCANNED.has(name) && !isProduct) || (isAtLine && name === 'batch') ? scanner(field) : undefined,
    });
    return placed ? placed(input, field) : input;
  });
  return path === '' ? h(Around.Provider, { value: { draft, resource }, children: inputs }) : inputs;
}

/**
 * Return the line in which the cursor is.
 *
 * @param {HTMLInputElement} input
 */
function lineOf({ value, selectionStart }) {
  return value.slice(0, selectionStart ?? value.length).split('\n').at(-1) ?? '';
}

/** The priorities that a person chooses from; the service admits other numbers, too. */
const PRIORITIES = [1, 2, 3];

/**
 * Return a field, of which the priority is chosen by words where it is a number.
 *
 * @param {Field} field
 * @returns {Field}
 */
function withChoices(field) {
  return field.name === 'priority' && field.type === 'integer' ? { ...field, type: 'choice', choices: PRIORITIES } : field;
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
 * @property {(field: Field) => (props: InputProps) => any} [inputOf] of the fields in it
 * @property {boolean} [isInCell] of a table, whose head has the label
 * @property {(changes: Draft) => void} [onFill] writes into the fields beside it
 * @property {(input: HTMLInputElement) => void} [onScan] takes what was scanned into it
 */

/** @param {InputProps} props */
export function PlainInput({ field, entry, onChange, problems, path, draft, isInCell, onFill, onScan }) {
  const id = useId();
  const own = problems.filter((one) => one.field === path || one.field.startsWith(`${path}.`));
  const isLines = field.type === 'array';
  const hint = fieldHint(field.name);
  const notes = [
    ...own.map(({ message }) => message),
    ...(isLines ? [text('one_per_line')] : []),
    ...(hint === null ? [] : [hint]),
  ];
  const around = useContext(Around);
  const [isUsed, setUsed] = useState(false);
  const [isHere, setHere] = useState(false);
  const [last, setTyped] = useState(/** @type {{text: string, value: string} | null} */ (null));
  const sources = isLines ? [] : sourcesOf(field.name, draft, around, address.value.path);
  const value = writtenOf(entry);
  // shown until the input is left, or gets another value: that of the next row after one is removed
  const typed = last?.value === value ? last.text : null;
  const { choices, total, isRefused } = useChoices(isUsed ? sources : [], typed ?? value);
  const isById = sources[0]?.isById === true;
  // of a code that is not among the first rows, the id is looked at
  const hasOthers = total > choices.length;
  const [, number = ''] = (isById && hasOthers && /^[a-z]{2,3}-0*(\d+)$/i.exec(typed ?? '')) || [];
  const names = useNames(sources[0], [value, number], choices);
  const match = chosenOf(choices, typed ?? '', isById, { id: number, name: names.get(number) }, hasOthers);
  // what is no name is no id either, unless there are no names to choose from
  const isUnknown = isById && Boolean(typed?.trim()) && match === undefined && value === '';
  const shown = (isHere || isUnknown ? typed : null) ?? names.get(value) ?? value;
  const element = useRef(/** @type {HTMLInputElement | null} */ (null));
  useEffect(() => element.current?.setCustomValidity(isUnknown ? text('choose_known') : ''), [isUnknown]);
  useEffect(() => {
    const chosen = match?.value ?? (isUnknown && isRefused ? typed : null);
    if (match?.fills) {
      onFill?.(match.fills);
    } else if (isById && chosen != null && chosen !== value) {
      setTyped({ text: typed ?? '', value: chosen });
      onChange(chosen);
    }
  }, [match?.value, value, isUnknown && isRefused]);
  const common = {
    id,
    ref: element,
    list: isUsed && sources.length > 0 ? `${id}-list` : undefined,
    onFocus: () => {
      setUsed(true);
      setHere(true);
      if (onScan) {
        import('./scan.js').catch(() => undefined); // so that the first scan does not wait for it
      }
    },
    onBlur: () => setHere(false),
    name: path,
    required: field.isRequired === true && field.type !== 'boolean',
    'aria-label': isInCell ? fieldLabel(field.name) : undefined,
    'aria-invalid': own.length > 0,
    'aria-describedby': notes.length > 0 ? `${id}-notes` : undefined,
    onInput: (/** @type {any} */ { target }) => {
      const written = isById && !isRefused ? '' : target.value;
      setTyped(sources.length > 0 ? { text: target.value, value: written } : null);
      onChange(target.files?.[0] ?? (isById ? written : entered(target)));
    },
    onKeyDown: (/** @type {KeyboardEvent} */ event) => {
      const { key, ctrlKey, metaKey, target, isComposing } = event;
      if (onScan && key === 'Enter' && !isComposing && !ctrlKey && !metaKey && shown.trim() !== '') {
        if (!isLines) {
          event.preventDefault();
          setTyped(null);
        }
        onScan(/** @type {HTMLInputElement} */ (target));
      }
    },
  };
  return h('div', { class: `field ${field.type}` }, [
    !isInCell && h('label', { for: id }, [fieldLabel(field.name), field.isRequired && h(Required, {})]),
    input(onScan && !isLines ? { ...field, maxLength: LONGEST_SCAN } : field, shown, common),
    field.suggested &&
      h(Lazy, {
        load: () => import('./suggested.js'),
        name: 'Suggested',
        props: { suggested: field.suggested, onChoose: (/** @type {Draft} */ chosen) => onFill?.(chosen) },
      }),
    common.list && h(Suggestions, { id: common.list, choices }),
    notes.length > 0 &&
      h(
        'p',
        { id: `${id}-notes`, class: own.length > 0 ? 'problem' : isInCell ? 'hidden' : 'quiet' },
        notes.join(' '),
      ),
  ]);
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
 * @param {string} value
 * @param {Record<string, unknown>} common
 */
function input(field, value, common) {
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
      return h('textarea', { ...common, rows: common['aria-label'] ? 1 : 4, value });
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


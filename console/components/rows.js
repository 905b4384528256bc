/**
 * The rows of a form, such as the lines of an order: a table with an input in each cell.
 */

import { fieldLabel, text } from '../core/words.js';
import { useEffect, useRef, useState } from '../vendor/hooks.js';
import { h } from '../vendor/preact.js';
import { Fields, Required } from './fields.js';

/**
 * @typedef {import('./fields.js').Draft} Draft
 * @typedef {import('./fields.js').Entry} Entry
 * @typedef {import('./fields.js').Field} Field
 * @typedef {import('./fields.js').InputProps} InputProps
 * @typedef {import('./fields.js').Problem} Problem
 */

/** Columns that few lines need: they are shown when a line has a value there, or a person wants them. */
const ASIDE = new Set([
  'approve', 'expected_batches', 'expected_qty', 'expected_series', 'expiry_date', 'external_ref', 'gtin',
  'inventory_status', 'metadata', 'serials', 'to_status',
]);

/** @param {InputProps} props */
export function RowsInput({ field, entry, onChange, problems, path, noteOf, inputOf }) {
  const first = /** @type {Draft[]} */ (field.isRequired ? [{}] : []);
  const rows = Array.isArray(entry) ? /** @type {Draft[]} */ (entry) : first;
  const own = problems.filter((one) => one.field === path);
  // problems that name rows by old numbers
  const [outdated, setOutdated] = useState(/** @type {readonly Problem[] | null} */ (null));
  const current = problems === outdated ? [] : problems;
  const [wanted, setWanted] = useState(/** @type {ReadonlySet<string>} */ (new Set()));
  const isOpenEnded = useRef(entry === undefined).current; // its lines are not given
  const fieldset = useRef(/** @type {HTMLFieldSetElement | null} */ (null));
  const isAdding = useRef(false);
  useEffect(() => {
    if (isAdding.current) {
      const added = [...(fieldset.current?.querySelectorAll(':scope > .table > table > tbody > .row') ?? [])].at(-1);
      /** @type {HTMLElement | null | undefined} */ (added?.querySelector('input, select'))?.focus();
    }
    isAdding.current = false;
  }, [rows.length]);
  const fields = (field.items?.fields ?? []).filter(({ name }) => name !== 'line_num');
  const columns = fields.filter(
    ({ name, isRequired }) =>
      isRequired ||
      !ASIDE.has(name) ||
      wanted.has(name) ||
      rows.some((row, at) => hasPart(row, name, `${path}.${at}.`, current)),
  );
  const hidden = fields.filter(({ name, isRequired }) => ASIDE.has(name) && !isRequired);
  const add = () => {
    isAdding.current = true;
    onChange([...rows, {}]);
  };
  /** @param {string} name */
  const toggle = (name) => {
    const others = [...wanted].filter((one) => one !== name);
    setWanted(new Set(wanted.has(name) ? others : [...others, name]));
  };
  /** @param {KeyboardEvent} event */
  const onKeyDown = (event) => {
    const inputs = [...(fieldset.current?.querySelectorAll('.row :is(input, select, textarea)') ?? [])];
    const isLast = event.target instanceof HTMLInputElement && event.target === inputs.at(-1);
    const isHeld = event.ctrlKey || event.metaKey || event.isComposing;
    const isPlain = event.key === 'Enter' && !event.defaultPrevented && !isHeld;
    if (isOpenEnded && isLast && isPlain && Object.values(rows.at(-1) ?? {}).some(Boolean)) {
      event.preventDefault();
      add();
    }
  };
  return h('fieldset', { class: 'rows', ref: fieldset, onKeyDown }, [
    h('legend', {}, [fieldLabel(field.name), field.isRequired && h(Required, {})]),
    own.length > 0 && h('p', { class: 'problem' }, own.map(({ message }) => message).join(' ')),
    rows.some(({ line_num: number }) => number) && h('p', { class: 'quiet' }, text('zero_gives_up')),
    rows.length > 0 &&
      h('div', { class: 'table', tabIndex: 0, role: 'region', 'aria-label': fieldLabel(field.name) }, h('table', {}, [
        h('thead', {}, h('tr', {}, [
          h('td', { key: ' ' }),
          ...columns.map(({ name, isRequired }) =>
            h('th', { key: name, scope: 'col' }, [fieldLabel(name), isRequired && h(Required, {})]),
          ),
          h('td', { key: '' }),
        ])),
        h('tbody', {}, rows.map((row, index) => {
          const start = `${path}.${index}.`;
          const ofRow = current
            .map((one) => ({ ...one, at: `${one.field}.` }))
            .filter(({ at }) => at.startsWith(start) && !columns.some(({ name }) => at.startsWith(`${start}${name}.`)));
          const isChanged = Boolean(row.line_num); // a line that there is: only its quantity changes
          const note = noteOf?.(row);
          return h('tr', { key: index, class: 'row' }, [
            h('th', { key: ' ', scope: 'row' }, [
              isChanged ? `${row.line_num} · ${row.item_code}` : String(index + 1),
              ofRow.length > 0 && h('p', { class: 'problem' }, ofRow.map(({ message }) => message).join(' ')),
            ]),
            h(Fields, {
              fields,
              draft: row,
              onChange: (changed) => onChange(rows.map((one, at) => (at === index ? changed : one))),
              problems: current,
              path: start,
              inputOf,
              placed: (input, { name }) =>
                columns.some((one) => one.name === name) &&
                h('td', { key: name }, (!isChanged || name === 'qty') && input, name === 'item_code' && note),
            }),
            h('td', { key: '', class: 'row-actions' }, !isChanged && h(
              'button',
              {
                type: 'button',
                onClick: () => {
                  setOutdated(problems);
                  onChange(rows.filter((_, at) => at !== index));
                },
              },
              text('remove'),
            )),
          ]);
        })),
      ])),
    h('div', { class: 'tools' }, [
      h('button', { type: 'button', onClick: add }, text('add')),
      rows.length > 0 && hidden.length > 0 && h('details', { class: 'menu' }, [
        h('summary', { class: 'button' }, text('columns')),
        h('div', { class: 'choices' }, hidden.map(({ name }) =>
          h('label', { key: name }, [
            h('input', {
              type: 'checkbox',
              checked: columns.some((one) => one.name === name),
              onChange: () => toggle(name),
            }),
            fieldLabel(name),
          ]),
        )),
      ]),
    ]),
  ]);
}

/**
 * @param {Draft} row
 * @param {string} name of a field
 * @param {string} start path of the row in the body
 * @param {readonly Problem[]} problems
 * @returns {boolean} whether the field has a value, or a problem
 */
function hasPart(row, name, start, problems) {
  const entry = row[name];
  const isEmpty = entry === undefined || entry === '' || (Array.isArray(entry) && entry.length === 0);
  return !isEmpty || problems.some(({ field }) => `${field}.`.startsWith(`${start}${name}.`));
}

/**
 * A value of the interface, and the parts of an object, by name.
 */

import { fieldLabel, text } from '../core/words.js';
import { h } from '../vendor/preact.js';
import { plain } from './value.js';

/** @typedef {import('../core/subject.js').Field} Field */

/**
 * @param {object} props
 * @param {Omit<Field, 'name'> & {name?: string}} props.field
 * @param {unknown} props.value
 */
export function Value({ field, value }) {
  if (isEmpty(value)) {
    return h('span', { class: 'quiet' }, text('not_set'));
  }
  if (field.type === 'object' && field.fields?.length === 0) {
    return h(Parts, { fields: [], values: /** @type {Record<string, unknown>} */ (value) });
  }
  if (field.type === 'texts') {
    return h(Texts, { texts: /** @type {Record<string, string>} */ (value) });
  }
  if (field.type === 'choice' && field.name === 'status') {
    return h('span', { class: `status ${value}` }, plain(field, value));
  }
  if (field.type === 'date-time') {
    return h('time', { dateTime: String(value) }, plain(field, value));
  }
  return plain(field, value);
}

/**
 * Texts by the names that people chose for them, as a table.
 *
 * @param {object} props
 * @param {Readonly<Record<string, string>>} props.texts
 */
function Texts({ texts }) {
  const rows = Object.entries(texts).map(([name, value]) =>
    h('tr', { key: name }, [h('th', { scope: 'row' }, name), h('td', {}, value)]),
  );
  return h('table', { class: 'texts' }, h('tbody', {}, rows));
}

/** @param {unknown} value */
export function isEmpty(value) {
  const isHollow = typeof value === 'object' && value !== null && Object.keys(value).length === 0;
  return value === null || value === undefined || value === '' || isHollow;
}

/**
 * The parts of an object.
 *
 * @param {object} props
 * @param {readonly Field[]} props.fields none for an object of any form
 * @param {Record<string, unknown>} props.values
 */
export function Parts({ fields, values }) {
  const known = fields.length > 0 ? fields : Object.entries(values).map(fieldOf);
  return h(
    'ul',
    { class: 'parts' },
    known
      .filter(({ name }) => values[name] !== null && values[name] !== undefined)
      .map((part) =>
        h('li', { key: part.name }, [
          h('span', { class: 'quiet' }, `${fieldLabel(part.name)}: `),
          h(Part, { field: part, value: values[part.name] }),
        ]),
      ),
  );
}

/**
 * @param {object} props
 * @param {Field} props.field
 * @param {unknown} props.value
 */
function Part({ field, value }) {
  const rows = Array.isArray(value) ? value.filter((one) => typeof one === 'object') : [];
  if (rows.length > 0) {
    return h(
      'ol',
      {},
      rows.map((row, at) => h('li', { key: at }, h(Parts, { fields: [], values: row }))),
    );
  }
  if (field.type === 'object' && field.fields === undefined) {
    return h(Parts, { fields: [], values: /** @type {Record<string, unknown>} */ (value) });
  }
  return h(Value, { field, value });
}

/**
 * Return a field for a value of a body that has no description.
 *
 * @param {[string, unknown]} entry
 * @returns {Field}
 */
function fieldOf([name, value]) {
  if (Array.isArray(value)) {
    return { name, type: 'array', items: { type: 'text' } };
  }
  if (typeof value === 'object') {
    return { name, type: 'object' };
  }
  return { name, type: typeof value === 'boolean' ? 'boolean' : 'text' };
}

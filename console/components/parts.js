/**
 * The fields of a resource, and the parts of an object, by name.
 */

import { fieldLabel } from '../core/words.js';
import { h } from '../vendor/preact.js';
import { Value } from './value.js';

/** @typedef {import('../core/subject.js').Field} Field */

/**
 * The fields of a resource.
 *
 * @param {object} props
 * @param {readonly Field[]} props.fields
 * @param {Record<string, unknown>} props.values
 * @param {Record<string, string>} [props.links] field → subject whose id it has
 */
export function Definitions({ fields, values, links = {} }) {
  return h(
    'dl',
    {},
    fields.map((field) =>
      h('div', { key: field.name }, [
        h('dt', {}, fieldLabel(field.name)),
        h('dd', {}, h(Definition, { field, value: values[field.name], link: links[field.name] })),
      ]),
    ),
  );
}

/**
 * @param {object} props
 * @param {Field} props.field
 * @param {unknown} props.value
 * @param {string | undefined} props.link
 */
function Definition({ field, value, link }) {
  const isTarget = isObject(value) && ('object' in value || 'type' in value) && 'id' in value;
  return isObject(value) && field.type === 'object' && !isTarget
    ? h(Parts, { fields: field.fields ?? [], values: value })
    : h(Value, { field, value, link });
}

/**
 * @param {unknown} value
 * @returns {value is Record<string, unknown>}
 */
function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
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

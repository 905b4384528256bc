/**
 * The fields of a resource.
 */

import { isId, linkOf } from '../core/links.js';
import { postalLines } from '../core/postal.js';
import { fieldLabel, language } from '../core/words.js';
import { h } from '../vendor/preact.js';
import { Parts, Value } from './parts.js';
import { plain } from './value.js';

/** @typedef {import('../core/subject.js').Field} Field */

/**
 * Show the fields of a resource.
 *
 * @param {object} props
 * @param {readonly Field[]} props.fields
 * @param {Record<string, unknown>} props.values
 * @param {Readonly<Record<string, string>>} [props.links] field with an object → subject of this object
 */
export function Definitions({ fields, values, links }) {
  return h(
    'dl',
    {},
    fields.map((field) =>
      h('div', { key: field.name }, [
        h('dt', {}, fieldLabel(field.name)),
        h('dd', {}, shown(field, values, links)),
      ]),
    ),
  );
}

/**
 * @param {Field} field
 * @param {Record<string, unknown>} values
 * @param {Readonly<Record<string, string>>} [links]
 */
function shown(field, values, links) {
  const value = values[field.name];
  const link = linkOf(field.name, values, links);
  if (link !== undefined) {
    return h('a', { href: link }, h(Value, { field, value }));
  }
  const { items = { type: 'text' } } = field;
  if (Array.isArray(value) && value.length > 0 && (isId(field.name) || items.type === 'choice')) {
    const entries = value.map((one) => {
      const to = linkOf(field.name, { [field.name]: one });
      return h('li', { key: one }, to === undefined ? plain(items, one) : h('a', { href: to }, String(one)));
    });
    return h('ul', { class: 'parts' }, entries);
  }
  if (field.name === 'ship_to_address' && value) {
    return h('address', {}, postalLines(value, language.value).join('\n'));
  }
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject && field.type === 'object'
    ? h(Parts, { fields: field.fields ?? [], values: /** @type {Record<string, unknown>} */ (value) })
    : h(Value, { field, value });
}

/**
 * The fields of a resource.
 */

import { linkOf, subjectOfIds } from '../core/links.js';
import { postalLines } from '../core/postal.js';
import { fieldLabel, language } from '../core/words.js';
import { h } from '../vendor/preact.js';
import { Lazy } from './lazy.js';
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
  const named = subjectOfIds(field.name);
  if (named !== undefined && typeof value === 'number') {
    return h(Lazy, { load: () => import('./named.js'), name: 'NamedLinks', props: { name: named, ids: [value] } });
  }
  if (link !== undefined) {
    return h('a', { href: link }, h(Value, { field, value }));
  }
  const { items = { type: 'text' } } = field;
  if (Array.isArray(value) && value.length > 0) {
    if (named !== undefined) {
      return h(Lazy, { load: () => import('./named.js'), name: 'NamedLinks', props: { name: named, ids: value } });
    }
    if (items.type === 'choice') {
      return h('ul', { class: 'parts' }, value.map((one) => h('li', { key: one }, plain(items, one))));
    }
  }
  if (field.name === 'ship_to_address' && value) {
    return h('address', {}, postalLines(value, language.value).join('\n'));
  }
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  const hasName = isObject && 'user_id' in value && /** @type {any} */ (value).name;
  return isObject && field.type === 'object' && !hasName
    ? h(Parts, { fields: field.fields ?? [], values: /** @type {Record<string, unknown>} */ (value) })
    : h(Value, { field, value });
}

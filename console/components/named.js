/**
 * Links to resources of which only the ids are known, with their names.
 */

import { calls } from '../core/app.js';
import { href } from '../core/address.js';
import { itemPath } from '../core/subject.js';
import { useLoaded } from '../core/use.js';
import { valueLabel } from '../core/words.js';
import { SUBJECT } from '../subjects.js';
import { h } from '../vendor/preact.js';

/** Ids whose names are read; a field with more shows the ids of the others. */
const MOST = 20;

/**
 * @param {object} props
 * @param {string} props.name of the subject
 * @param {readonly (string | number)[]} props.ids
 */
export function NamedLinks({ name, ids }) {
  const subject = /** @type {import('../core/subject.js').Subject} */ (SUBJECT.get(name));
  const { result } = useLoaded(`names ${name} ${ids}`, async (signal) => {
    const operation = /** @type {'GET /products/{id}'} */ (`GET ${itemPath(subject)}`);
    const read = ids.slice(0, MOST).map(async (id) => {
      const { body } = await calls.read(operation, { parameters: { id }, signal });
      const name = String(/** @type {Record<string, any>} */ (body.data)[subject.title]);
      return subject.title === 'id' ? `${valueLabel(subject.kind)} ${name}` : name;
    });
    return Promise.all(read);
  });
  return h(
    'ul',
    { class: 'parts' },
    ids.map((id, at) => h('li', { key: id }, h('a', { href: href([name, id]) }, result?.[at] ?? String(id)))),
  );
}

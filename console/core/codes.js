/**
 * Codes of other resources of which a resource has the ids.
 */

import { SUBJECT } from '../subjects.js';
import { subjectOfIds } from './links.js';
import { valueLabel } from './words.js';

/**
 * Return the code of another resource, or those of several, if it is made of its id.
 *
 * @param {string} name of a field
 * @param {unknown} id
 * @returns {string | undefined}
 */
export function codeOf(name, id) {
  const { prefix, finds, kind } = SUBJECT.get(subjectOfIds(name) ?? '') ?? {};
  const letters = prefix ?? finds?.ids;
  const ids = Array.isArray(id) ? id : [id];
  if (letters === undefined || ids.length === 0 || ids.some((one) => typeof one !== 'number')) {
    return undefined;
  }
  return ids.map((one) => (letters === 'kind' ? `${valueLabel(kind)} ${one}` : `${letters}-${one}`)).join(', ');
}

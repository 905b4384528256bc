/**
 * Where the fields of a resource lead.
 */

import { SUBJECT, SUBJECT_OF_KIND } from '../subjects.js';
import { href } from './address.js';

/** @typedef {Record<string, any>} Resource or a part of one */

/** Fields that repeat others, or that only programs need. */
const HIDDEN = new Set(['object', 'status_label', 'uuid', 'wms_status']);

/**
 * Field with the id of another resource → its subject, and the field beside it that names it.
 *
 * @type {Readonly<Record<string, readonly [string, string?]>>}
 */
const TARGETS = {
  exit_document_id: ['exit-documents', 'exit_doc_num'],
  packing_order_id: ['packing-orders'],
  parent_id: ['handling-units'],
  picking_id: ['pickings'],
  picking_ids: ['pickings'],
  position_id: ['warehouse-positions', 'bin_code'],
  product_id: ['products', 'item_code'],
  receipt_id: ['receipts'],
  roles: ['roles'],
  user_id: ['users'],
  wave_id: ['waves'],
  warehouse_id: ['warehouses', 'whs_code'],
};

const ID_OF = new Map(Object.entries(TARGETS).map(([id, [, name = id]]) => [name, id]));

/**
 * @param {string} name name of a field
 * @returns {string | undefined} the subject whose ids it has
 */
export function subjectOfIds(name) {
  return TARGETS[name]?.[0];
}

/** Other names that take the place of an id: they lead nowhere. */
const NAME_OF = new Map([['id', 'line_num'], ['user_id', 'operator']]);

/**
 * Return the fields that people read: a name, or the number of a line, takes the place of an id.
 *
 * @template {{name: string}} Field
 * @param {readonly Field[]} fields
 */
export function readable(fields) {
  const names = new Set(fields.map(({ name }) => name));
  const nameOf = (/** @type {string} */ id) => NAME_OF.get(id) ?? TARGETS[id]?.[1] ?? '';
  return fields.filter(({ name }) => !HIDDEN.has(name) && !names.has(nameOf(name)));
}

/**
 * Return the address that a field leads to.
 *
 * @param {string} name
 * @param {Resource} values all fields of the resource
 * @param {Readonly<Record<string, string>>} [links] field with an object → subject of this object,
 *   unless the object names its kind, as the transfer order of a picking does
 * @returns {string | undefined}
 */
export function linkOf(name, values, links = {}) {
  const { object, type, id } = values[name] ?? {};
  const own = SUBJECT_OF_KIND[object ?? type] ?? links[name];
  if (own !== undefined && id !== undefined) {
    return href([own, id]);
  }
  const key = ID_OF.get(name) ?? name;
  const [subject] = TARGETS[key] ?? [];
  const number = values[key];
  return subject !== undefined && number != null && !Array.isArray(number) ? href([subject, number]) : undefined;
}

/**
 * Return the address that a field in a row of a table leads to: its title leads to the row itself.
 *
 * @param {string} name
 * @param {Resource} row
 */
export function linkInRow(name, row) {
  const subject = SUBJECT.get(SUBJECT_OF_KIND[row.object] ?? '');
  return subject?.title === name ? href([subject.name, row.id]) : linkOf(name, row);
}

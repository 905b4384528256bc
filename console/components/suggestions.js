/**
 * Suggestions from the lists of the interface while a person writes a code.
 */

import { calls } from '../core/app.js';
import { useEffect, useState } from '../vendor/hooks.js';
import { h } from '../vendor/preact.js';

/**
 * Name of a field → the list that has its values, the field of its rows, and the one that names
 * them.
 *
 * @type {Readonly<Record<string, {list: string, value: string, name: string}>>}
 */
const SOURCES = {
  item_code: { list: 'products', value: 'item_code', name: 'name' },
  product_id: { list: 'products', value: 'id', name: 'item_code' },
  whs_code: { list: 'warehouses', value: 'whs_code', name: 'name' },
  warehouse: { list: 'warehouses', value: 'whs_code', name: 'name' },
  warehouse_code: { list: 'warehouses', value: 'whs_code', name: 'name' },
  warehouse_id: { list: 'warehouses', value: 'id', name: 'whs_code' },
  from_warehouse: { list: 'warehouses', value: 'whs_code', name: 'name' },
  to_warehouse: { list: 'warehouses', value: 'whs_code', name: 'name' },
  bin_code: { list: 'warehouse-positions', value: 'bin_code', name: 'whs_code' },
  destination_bin: { list: 'warehouse-positions', value: 'bin_code', name: 'whs_code' },
  position_id: { list: 'warehouse-positions', value: 'id', name: 'bin_code' },
  partner_code: { list: 'clients', value: 'document_id', name: 'name' },
  assigned_to: { list: 'users', value: 'id', name: 'name' },
  operator_id: { list: 'users', value: 'id', name: 'name' },
  picker_id: { list: 'users', value: 'id', name: 'name' },
  role: { list: 'roles', value: 'id', name: 'name' },
};

/** Milliseconds without a key before the list is asked. */
const PAUSE = 250;

/**
 * @param {string} field name of a field
 * @returns {boolean} whether there are suggestions for it
 */
export function hasSuggestions(field) {
  return field in SOURCES;
}

/**
 * Return the first rows of a list that match what a person writes, and how many match in all.
 *
 * @param {string} list
 * @param {string} written
 * @param {string} [sort] order of the rows
 */
export function useSearched(list, written, sort = '') {
  const [found, setFound] = useState({ rows: /** @type {Record<string, any>[]} */ ([]), total: 0 });
  useEffect(() => {
    const stop = new AbortController();
    const timer = setTimeout(async () => {
      const operation = /** @type {'GET /products'} */ (`GET /${list}`);
      const query = { search: written.trim(), per_page: 20, sort };
      try {
        const { body } = await calls.read(operation, { query, signal: stop.signal });
        setFound({ rows: body.data, total: body.meta.total });
      } catch {
        setFound({ rows: [], total: 0 }); // without suggestions, the code can still be written
      }
    }, PAUSE);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [written, list]);
  return found;
}

/**
 * The suggestions of an input, which names them in its attribute `list`.
 *
 * @param {object} props
 * @param {string} props.id
 * @param {string} props.field one that has suggestions
 * @param {string} props.written
 */
export function Suggestions({ id, field, written }) {
  const { list = '', value = '', name = '' } = SOURCES[field] ?? {};
  const { rows } = useSearched(list, written);
  return h(
    'datalist',
    { id },
    rows.map((row) => h('option', { key: row.id, value: String(row[value]) }, String(row[name] ?? ''))),
  );
}

/**
 * Where the codes and ids of fields come from. A person chooses by a code or a name; of some, the
 * request has the id.
 */

/**
 * @typedef {import('../components/fields.js').Draft} Draft
 * @typedef {Record<string, any>} Row of a list
 *
 * @typedef {object} Choice
 * @property {string} value that the request has; empty if the row has none
 * @property {string} name that stands in the field, unique in its list
 * @property {string} more what a person knows it by, too
 * @property {Draft} [fills] what a choice writes into the fields beside it
 *
 * @typedef {object} Source
 * @property {string} list of the interface
 * @property {string | null} [filter] of the list that takes what a person writes; `search` without it,
 *   null if there is none
 * @property {Record<string, string | number | undefined>} [query] of the list
 * @property {(row: Row) => Choice} choiceOf
 * @property {boolean} [isById] the value is the id
 *
 * @typedef {object} Around what a form knows beside the fields of an object
 * @property {Draft} draft of the whole form
 * @property {Row} resource that the form is about
 */

/**
 * @param {string} list
 * @param {string} name of the field that names a row
 * @param {readonly string[]} more
 * @returns {Source} the rows of a list by their codes
 */
const byCode = (list, name, more) => ({
  list,
  choiceOf: (row) => ({ value: String(row[name]), name: String(row[name]), more: joined(row, more) }),
});

/**
 * @param {string} list
 * @param {string} name of the field that names a row
 * @param {readonly string[]} more
 * @param {Omit<Source, 'list' | 'choiceOf'>} [others]
 * @returns {Source} the rows of a list by their ids
 */
const byId = (list, name, more, others) => ({
  list,
  isById: true,
  choiceOf: (row) => ({ value: String(row.id), name: String(row[name]), more: joined(row, more) }),
  ...others,
});

/** What stands between the names of a choice. */
const BETWEEN = ' · ';

const PARTNER = ['external_ref', 'card_name'];
const WAREHOUSES = byCode('warehouses', 'whs_code', ['name']);
const POSITIONS = byCode('warehouse-positions', 'bin_code', ['whs_code']);
const USERS = byId('users', 'username', ['name']);
const ORDERS = byId('exit-documents', 'doc_num', PARTNER);
const PICKINGS = byId('pickings', 'code', ['document.doc_num', 'concept']);

/** @type {Readonly<Record<string, Source>>} */
const SOURCES = {
  item_code: byCode('products', 'item_code', ['name']),
  product_id: byId('products', 'item_code', ['name']),
  whs_code: WAREHOUSES,
  warehouse: WAREHOUSES,
  warehouse_code: WAREHOUSES,
  warehouse_id: byId('warehouses', 'whs_code', ['name']),
  from_warehouse: WAREHOUSES,
  to_warehouse: WAREHOUSES,
  bin_code: POSITIONS,
  destination_bin: POSITIONS,
  from_bin: POSITIONS,
  to_bin: POSITIONS,
  position_id: byId('warehouse-positions', 'bin_code', ['whs_code']),
  assigned_to: USERS,
  operator_id: USERS,
  picker_id: USERS,
  role: byId('roles', 'name', ['description']),
  roles: byId('roles', 'name', []),
  document_ids: ORDERS,
  exit_document_id: ORDERS,
  picking_id: PICKINGS,
  picking_ids: PICKINGS,
  hold_id: byId('holds', 'code', ['external_ref'], { filter: null, query: { status: 'active' } }),
  packing_order_id: byId('packing-orders', 'code', ['exit_doc_num'], { filter: null }),
  handling_unit_id: byId('handling-units', 'code', ['sscc'], { filter: null }),
  parent_id: byId('handling-units', 'code', ['type'], { filter: null, query: { status: 'open' } }),
  receipt_id: byId('receipts', 'id', ['document.doc_num']),
  return_id: byId('returns', 'code', PARTNER),
};

/** Subject → the documents that its field `document_id` means: that of a client is a number of its own. */
const ORDERS_OF = /** @type {Readonly<Record<string, Source>>} */ ({
  pickings: ORDERS,
  receipts: byId('entry-documents', 'doc_num', PARTNER),
});

/** Fields that name a warehouse, the most exact first, of the position that a field names. */
const WAREHOUSE_OF = /** @type {Readonly<Record<string, readonly string[]>>} */ ({
  from_bin: ['from_warehouse'],
  to_bin: ['to_warehouse'],
});
const WAREHOUSE = ['warehouse_code', 'warehouse', 'whs_code'];

/**
 * Return where the values of a field come from; none if a person writes them without suggestions.
 *
 * @param {string} field its name
 * @param {Draft} [beside] the object that has the field
 * @param {Partial<Around>} [around]
 * @param {readonly string[]} [screen] path of its address
 * @returns {readonly Source[]}
 */
export function sourcesOf(field, beside = {}, { draft = {}, resource = {} } = {}, screen = []) {
  const places = [beside, draft, resource];
  if (field === 'partner_code') {
    return partners(screen, String(draft.type ?? ''));
  }
  const source = field === 'document_id' ? ORDERS_OF[screen[0] ?? ''] : SOURCES[field];
  if (source === undefined) {
    return [];
  }
  if (field === 'picking_ids') {
    return [{ ...source, query: { status: screen[0] === 'waves' ? 'pending' : 'finalized' } }];
  }
  if (field === 'parent_id') {
    return [{ ...source, query: { ...source.query, packing_order_id: resource.id } }];
  }
  if (source.list === 'warehouse-positions') {
    const names = WAREHOUSE_OF[field] ?? WAREHOUSE;
    const warehouse = places.flatMap((place) => names.map((name) => place[name])).find(Boolean);
    return [warehouse ? { ...source, query: { warehouse: String(warehouse) } } : source];
  }
  return [source];
}

/**
 * Return the field of a new resource that begins with the usual warehouse; undefined if there is none.
 *
 * @param {string} operation
 * @param {readonly {name: string}[]} fields
 */
export function usualField(operation, fields) {
  const names = operation === 'POST /warehouses' ? [] : ['from_warehouse', ...WAREHOUSE];
  return names.find((name) => fields.some((field) => field.name === name));
}

/**
 * Return the choice that a person wrote: by its name or, for one that has an id, by what else it is
 * known by, if it is surely the only one.
 *
 * @param {readonly Choice[]} choices
 * @param {string} written
 * @param {boolean} isById
 * @param {{id: string, name: string | undefined}} found by its id; it is no choice if it has another name
 * @param {boolean} hasOthers whether there are more rows than these choices
 * @returns {Pick<Choice, 'value' | 'fills'> | undefined}
 */
export function chosenOf(choices, written, isById, { id, name }, hasOthers) {
  const wanted = written.trim().toLowerCase();
  const named = choices.find((one) => one.name.toLowerCase() === wanted);
  if (named !== undefined || wanted === '' || !isById) {
    return named;
  }
  const known = choices.filter(({ more }) => more.toLowerCase().split(BETWEEN).includes(wanted));
  return name?.toLowerCase() === wanted ? { value: id } : known.length === 1 && !hasOthers ? known[0] : undefined;
}

/**
 * Return where partners come from: those of recent documents of the kind, and those of the catalog.
 *
 * @param {readonly string[]} screen path of its address
 * @param {string} type of the document
 * @returns {readonly Source[]}
 */
function partners([subject, part], type) {
  const isEntry = subject === 'entry-documents';
  const goesBack = type === 'return_to_provider' || (subject === 'returns' && part !== 'new');
  const kind = goesBack ? 'return_to_provider' : isEntry ? undefined : type || 'sale_order';
  return [
    {
      list: isEntry ? 'entry-documents' : 'exit-documents',
      query: { type: kind, sort: '-created_at' },
      choiceOf: (row) => partner(row.card_code, row.card_name),
    },
    {
      list: isEntry || goesBack ? 'providers' : 'clients',
      choiceOf: (row) => partner(row.code ?? row.document_id, row.name),
    },
  ];
}

/**
 * @param {string | number | null | undefined} code
 * @param {string | null} name
 * @returns {Choice}
 */
function partner(code, name) {
  const value = String(code ?? '');
  const more = name ?? '';
  return { value, name: value, more, fills: more ? { partner_name: more } : {} };
}

/**
 * @param {Row} row
 * @param {readonly string[]} names
 */
function joined(row, names) {
  const values = names.map((name) => name.split('.').reduce((/** @type {any} */ value, part) => value?.[part], row));
  return values.filter(Boolean).join(BETWEEN);
}

/**
 * The subjects of the console, one entry for each list of the interface. What is not here comes
 * from `console/interface`: fields, filters, sort orders, bodies and permissions.
 */

import { exact } from './core/exact.js';
import { today } from './core/zone.js';

/**
 * @typedef {import('./core/subject.js').Subject} Subject
 * @typedef {import('./core/actions.js').Resource} Resource
 */

const GOODS = ['item_code', 'gtin', 'qty', 'unit', 'bin_code', 'batch', 'serials'];
const PRIORITIES = ['Alta', 'Normal', 'Baja'];

/** @param {Record<string, any>} document */
function documentValues({ card_name, priority, lines }) {
  return {
    partner_name: card_name,
    priority: PRIORITIES[priority - 1],
    // a changed quantity counts base units, and nothing else of a line can be changed
    lines: lines.map((/** @type {any} */ { line_num, item_code, qty }) => ({ line_num, item_code, qty })),
  };
}

/**
 * Return what a new document has of another one: not its reference, its dates, and what became of it.
 *
 * @param {Resource} document
 */
function documentCopy({ type, card_code, lines, ...document }) {
  const { partner_name, priority } = documentValues({ ...document, lines });
  return {
    ...document,
    type,
    partner_code: card_code,
    partner_name,
    priority,
    warehouse_code: lines[0]?.whs_code,
    external_ref: undefined,
    doc_date: today(),
    due_date: undefined,
    lines: lines.map((/** @type {Resource} */ { item_code, qty, unit, unit_qty }) => ({ item_code, unit, qty: unit_qty ?? qty })),
  };
}

/** @param {Resource} line */
const serialsOf = ({ serials, serial_numbers }) => serials ?? serial_numbers ?? [];

/**
 * Return the goods of a line as an action about it names them; false if none are left. Of a line that
 * is partly done, the interface does not say which serials are left: they are scanned. Those that it
 * has may be the done ones.
 *
 * @param {Resource} line
 * @param {number} qty
 * @param {number} [done] what is done before
 */
function goods(line, qty, done = 0) {
  const { item_code, bin_code, batch_num } = line;
  const serials = serialsOf(line);
  const known = done === 0 && serials.length === qty ? { serials } : {};
  return qty > 0 && { item_code, qty, bin_code, batch: batch_num, ...known };
}

/**
 * Return the stock of a line of a count as counting names it; false for an empty position.
 *
 * @param {Resource} line
 */
function countedStock({ item_code, bin_code, batch_num, serial_number, inventory_status }) {
  const serials = serial_number === null ? undefined : [serial_number];
  return item_code !== null && { bin_code, item_code, batch: batch_num, serials, inventory_status };
}

/**
 * Return the goods of lines for an action that takes rows, as many as it takes, and how many `others`
 * there are.
 *
 * @param {readonly Resource[]} lines
 * @param {(line: Resource) => number} leftOf
 * @param {number} most
 * @param {(line: Resource) => number} [doneOf]
 */
function rows(lines, leftOf, most, doneOf = () => 0) {
  const all = lines.flatMap((line) => goods(line, leftOf(line), doneOf(line)) || []);
  return { lines: all.slice(0, most), others: Math.max(0, all.length - most) };
}

/**
 * Return the goods that lines have left.
 *
 * @param {readonly Resource[]} lines
 * @param {(line: Resource) => number} leftOf
 */
function losses(lines, leftOf) {
  return lines
    .map((line) => ({ item_code: line.item_code, qty: leftOf(line) }))
    .filter(({ qty }) => qty > 0);
}

const unpicked = (/** @type {Resource} */ { qty, picked_qty }) => exact(qty - picked_qty);
const unpacked = (/** @type {Resource} */ { qty, packed_qty }) => exact(qty - packed_qty);
const open = (/** @type {Resource} */ { open_qty }) => open_qty;
const onTheWay = (/** @type {Resource} */ line) => exact(line.dispatched_qty - line.received_qty);
const received = (/** @type {Resource} */ { received_qty }) => received_qty;
const expected = (/** @type {Resource} */ { qty, received_qty }) => exact(qty - received_qty);
const isDue = (/** @type {Resource} */ { difference, movement_id: posted }) =>
  Boolean(difference) && posted === null;
const undecided = (/** @type {Resource} */ line) =>
  exact(
    line.received_qty -
      line.restocked_qty -
      line.quarantined_qty -
      line.scrapped_qty -
      line.lost_qty -
      line.returned_to_provider_qty,
  );

const WAVE = {
  operation: 'POST /waves',
  field: 'picking_ids',
  label: 'create_wave',
  asks: ['warehouse_code', 'strategy', 'carrier_code', 'cutoff_at'],
  then: ['POST /waves/{id}/plan'],
};

/** @type {readonly Subject[]} */
export const SUBJECTS = [
  {
    name: 'products',
    kind: 'product',
    isApproved: true,
    group: 'catalog',
    columns: ['item_code', 'name', 'type', 'barcode', 'sales_unit'],
    title: 'item_code',
    finds: { search: 'text', barcode: 'entered', gtin: 'gtin' },
    create: 'POST /products',
    change: 'PATCH /products/{id}',
    actions: [{ operation: 'DELETE /products/{id}', endsWork: true }],
    files: [
      { path: '/products/labels?ids={ids}&size={size}', label: 'label' },
      { path: '/products/labels?ids={ids}&size={size}&format=zpl', label: 'label_zpl' },
    ],
    panels: ['packaging'],
    related: {
      'stock-levels.item_code': { subject: 'stock-levels', filter: 'item_code', isShown: true },
      'stocks.item_code': { subject: 'stocks', filter: 'item_code', isShown: true },
      'stock-movements.item_code': { subject: 'stock-movements', filter: 'item_code' },
      'pick-faces.item_code': { subject: 'pick-faces', filter: 'item_code' },
    },
  },
  {
    name: 'product-categories',
    group: 'catalog',
    columns: ['name', 'description', 'updated_at'],
    title: 'name',
    finds: { search: 'text' },
    create: 'POST /product-categories',
    change: 'PATCH /product-categories/{id}',
    actions: [{ operation: 'DELETE /product-categories/{id}', endsWork: true }],
  },
  {
    name: 'clients',
    group: 'catalog',
    columns: ['document_id', 'code', 'name', 'email', 'phone'],
    title: 'name',
    finds: { search: 'text' },
    create: 'POST /clients',
    change: 'PATCH /clients/{id}',
    actions: [{ operation: 'DELETE /clients/{id}', endsWork: true }],
  },
  {
    name: 'providers',
    group: 'catalog',
    columns: ['id', 'code', 'name', 'email', 'phone'],
    title: 'name',
    finds: { search: 'text' },
    create: 'POST /providers',
    change: 'PATCH /providers/{id}',
    actions: [{ operation: 'DELETE /providers/{id}', endsWork: true }],
  },
  {
    name: 'stocks',
    group: 'stock',
    columns: ['item_code', 'product_name', 'position', 'batch_num', 'serial_number', 'expiry_date', 'inventory_status', 'qty'],
    title: 'item_code',
    finds: { batch: 'whole', serial: 'whole' },
    create: 'POST /stock-adjustments',
    links: { position: 'warehouse-positions' },
  },
  {
    name: 'stock-levels',
    group: 'stock',
    columns: [
      'item_code',
      'whs_code',
      'on_hand',
      'available',
      'committed',
      'sellable',
      'incoming',
      'in_transit',
    ],
    title: 'item_code',
    more: ['POST /reconciliations/files', 'POST /reconciliations'],
  },
  {
    name: 'reconciliations',
    kind: 'reconciliation',
    group: 'stock',
    from: 'stock-levels',
    waits: ['pending', 'running'],
    columns: [],
    title: 'code',
    finds: { id: 'RC' },
  },
  {
    name: 'stock-movements',
    kind: 'stock_movement',
    group: 'stock',
    columns: ['created_at', 'type', 'item_code', 'qty', 'from', 'to', 'batch_num'],
    title: 'id',
    finds: { ids: 'kind' },
  },
  {
    name: 'entry-documents',
    kind: 'entry_document',
    group: 'inbound',
    columns: ['doc_num', 'external_ref', 'type', 'card_name', 'status', 'due_date'],
    title: 'doc_num',
    finds: { search: 'text' },
    create: 'POST /entry-documents',
    begins: () => ({ type: 'purchase_order', doc_date: today() }),
    change: 'PATCH /entry-documents/{id}',
    formValues: documentValues,
    copies: documentCopy,
    actions: [
      {
        operation: 'POST /receipts',
        name: 'receive',
        label: 'receive_now',
        atOnce: true,
        then: ['POST /receipts/{id}/start'],
      },
      { operation: 'POST /receipts', name: 'receive' },
      {
        operation: 'POST /entry-documents/{id}/close',
        endsWork: true,
        loses: ({ lines }) => losses(lines, open),
      },
    ],
    related: { 'receipts.document_id': { subject: 'receipts', filter: 'id', isShown: true } },
  },
  {
    name: 'receipts',
    kind: 'receipt',
    isApproved: true,
    group: 'inbound',
    columns: ['id', 'status', 'document', 'operator', 'created_at'],
    title: 'id',
    finds: { search: 'text', ids: 'kind' },
    create: 'POST /receipts',
    expected: {
      subject: 'entry-documents',
      id: ({ document }) => document?.id,
      statuses: ['pending', 'started'],
      columns: ['line_num', 'item_code', 'qty', 'received_qty', 'open_qty', 'status'],
    },
    links: { document: 'entry-documents' },
    sheet: {
      label: 'receiving_list',
      at: 'expected',
      columns: ['line_num', 'item_code', 'product_name', 'open_qty'],
      blanks: ['received_qty', 'batch_num', 'bin_code'],
    },
    actions: [
      { operation: 'POST /receipts/{id}/start', atOnce: true },
      {
        operation: 'POST /receipts/{id}/lines',
        label: 'receive_as_ordered',
        asks: ['bin_code'],
        sends: { as_ordered: true },
        at: 'expected',
        line: (line) => goods(line, line.open_qty),
        isForAll: true,
      },
      {
        operation: 'POST /receipts/{id}/lines',
        asks: [...GOODS, 'expiry_date', 'inventory_status', 'approve'],
        at: 'expected',
        line: (line) => line.open_qty > 0 && { ...goods(line, line.open_qty), whs_code: line.whs_code },
        putsAway: (_, { whs_code }) => whs_code,
        lineLabel: 'receive_line',
        asksAbove: true,
      },
      {
        operation: 'POST /receipts/{id}/lines/undo',
        line: (line) => goods(line, line.qty),
        lineLabel: 'undo_line',
      },
      { operation: 'POST /receipts/{id}/finalize', atOnce: true },
      { operation: 'POST /receipts/{id}/synchronize', atOnce: true },
      { operation: 'POST /receipts/{id}/cancel', endsWork: true },
      { operation: 'POST /receipts/{id}/revert', endsWork: true },
    ],
  },
  {
    name: 'returns',
    kind: 'return',
    group: 'inbound',
    columns: ['code', 'external_ref', 'status', 'exit_doc_num', 'card_name', 'warehouse_code', 'created_at'],
    title: 'code',
    finds: { search: 'text' },
    create: 'POST /returns',
    actions: [
      {
        operation: 'POST /returns/{id}/lines',
        values: ({ lines }) => rows(lines, expected, 8, received),
        line: (line) => expected(line) > 0 && rows([line], expected, 1, received),
        lineLabel: 'receive_line',
      },
      { operation: 'POST /returns/{id}/lines/undo' },
      { operation: 'POST /returns/{id}/finish', atOnce: true },
      {
        operation: 'POST /returns/{id}/dispositions',
        values: ({ lines }) => rows(lines, undecided, 6),
        line: (line) => undecided(line) > 0 && rows([line], undecided, 1),
        putsAway: ({ warehouse_code }) => warehouse_code,
        lineLabel: 'decide_line',
      },
      { operation: 'POST /returns/{id}/cancel', endsWork: true },
    ],
  },
  {
    name: 'exit-documents',
    kind: 'exit_document',
    prefix: 'EX',
    group: 'outbound',
    columns: ['doc_num', 'external_ref', 'type', 'card_name', 'status', 'priority', 'due_date'],
    title: 'doc_num',
    finds: { search: 'text' },
    create: 'POST /exit-documents',
    begins: () => ({ type: 'sale_order', doc_date: today() }),
    change: 'PATCH /exit-documents/{id}',
    formValues: documentValues,
    copies: documentCopy,
    sells: true,
    lines: 'sellable',
    actions: [
      {
        operation: 'POST /pickings',
        name: 'pick',
        label: 'pick_now',
        atOnce: true,
        sends: { allocate: true },
        then: ['POST /pickings/{id}/start'],
      },
      { operation: 'POST /pickings', name: 'pick' },
      {
        operation: 'POST /packing-orders',
        name: '',
        label: 'pack_now',
        when: { status: ['partial-complete', 'completed'] },
        field: 'exit_document_id',
        atOnce: true,
        isAside: (_, made) => made['packing-orders']?.some(({ status }) => status !== 'cancelled') === true,
      },
      {
        operation: 'POST /exit-documents/{id}/dispatch',
        atOnce: ({ lines }) => losses(lines, open).length === 0,
        loses: ({ lines }) => losses(lines, open),
      },
      {
        operation: 'POST /exit-documents/{id}/close',
        endsWork: true,
        loses: ({ lines }) => losses(lines, open),
      },
    ],
    together: [
      {
        ...WAVE,
        first: { operation: 'POST /pickings', field: 'document_id', sends: { allocate: false } },
        values: ([first]) => ({ strategy: 'batch', warehouse_code: first?.lines[0]?.whs_code }),
        isFor: ({ lines }, { warehouse_code: code }) => lines.every((/** @type {Resource} */ one) => one.whs_code === code),
      },
      { operation: 'POST /pickings', field: 'document_ids', label: 'pick_together', sends: { allocate: true } },
    ],
    related: {
      'pickings.document_id': { subject: 'pickings', filter: 'id', isShown: true },
      'packing-orders.exit_document_id': { subject: 'packing-orders', filter: 'id', isShown: true },
      'returns.exit_document_id': { subject: 'returns', filter: 'id' },
    },
  },
  {
    name: 'pickings',
    kind: 'picking',
    prefix: 'PKG',
    isApproved: true,
    group: 'outbound',
    columns: ['code', 'status', 'priority', 'document', 'operator', 'has_shortage', 'created_at'],
    title: 'code',
    finds: { search: 'text' },
    create: 'POST /pickings',
    together: [{ ...WAVE, values: () => ({ strategy: 'batch' }) }],
    sheet: {
      label: 'pick_list',
      columns: ['bin_code', 'item_code', 'product_name', 'batch_num', 'serials', 'qty'],
      blanks: ['picked_qty'],
    },
    links: { document: 'exit-documents' },
    actions: [
      { operation: 'POST /pickings/{id}/start', atOnce: true },
      {
        operation: 'POST /pickings/{id}/allocate',
        atOnce: true,
        isAside: ({ lines }) => lines.every((/** @type {Resource} */ line) => line.bin_code !== null),
      },
      {
        operation: 'POST /pickings/{id}/picks',
        label: 'pick_as_allocated',
        asks: [],
        sends: { as_allocated: true },
        line: (line) => line.bin_code !== null && goods(line, unpicked(line)),
        isForAll: true,
        atOnce: true,
      },
      {
        operation: 'POST /pickings/{id}/picks',
        asks: GOODS,
        line: (line) => goods(line, unpicked(line)),
        lineLabel: 'pick_line',
      },
      {
        operation: 'POST /pickings/{id}/picks/undo',
        line: (line) => goods(line, line.picked_qty),
        lineLabel: 'undo_line',
      },
      {
        operation: 'POST /pickings/{id}/finalize',
        atOnce: ({ lines }) => losses(lines, unpicked).length === 0,
        loses: ({ lines }) => losses(lines, unpicked),
      },
      { operation: 'POST /pickings/{id}/synchronize', atOnce: true },
      { operation: 'POST /pickings/{id}/cancel', endsWork: true },
      { operation: 'POST /pickings/{id}/revert', endsWork: true },
    ],
  },
  {
    name: 'waves',
    group: 'outbound',
    permission: 'exits.manage',
    columns: ['code', 'status', 'strategy', 'warehouse_code', 'cutoff_at', 'created_at'],
    title: 'code',
    finds: { ids: 'WV' },
    create: 'POST /waves',
    actions: [
      { operation: 'POST /waves/{id}/plan', atOnce: true },
      { operation: 'POST /waves/{id}/release', atOnce: true },
      { operation: 'POST /waves/{id}/complete' },
      { operation: 'POST /waves/{id}/close' },
      { operation: 'POST /waves/{id}/cancel', endsWork: true },
    ],
  },
  {
    name: 'packing-orders',
    kind: 'packing_order',
    group: 'outbound',
    columns: ['code', 'status', 'exit_doc_num', 'station', 'units_count', 'created_at'],
    title: 'code',
    finds: { ids: 'PK' },
    create: 'POST /packing-orders',
    actions: [
      {
        operation: 'POST /packing-orders/{id}/handling-units',
        label: 'new_carton',
        asks: ['type'],
        sends: { type: 'carton' },
        atOnce: true,
        isAside: ({ lines }) => losses(lines, unpacked).length === 0,
        leads: 'handling-units',
      },
      { operation: 'POST /packing-orders/{id}/handling-units', leads: 'handling-units' },
      {
        operation: 'POST /packing-orders/{id}/complete',
        atOnce: ({ lines }) => losses(lines, unpacked).length === 0,
        loses: ({ lines }) => losses(lines, unpacked),
      },
      { operation: 'POST /packing-orders/{id}/cancel', endsWork: true },
    ],
    files: [{ path: '/packing-orders/{id}/packing-slip.pdf', label: 'packing_slip' }],
    related: { 'handling-units.packing_order_id': { subject: 'handling-units', filter: 'id' } },
  },
  {
    name: 'handling-units',
    kind: 'handling_unit',
    group: 'outbound',
    columns: ['code', 'sscc', 'type', 'status', 'packing_order_id', 'weight_kg'],
    title: 'code',
    finds: { sscc: 'sscc', ids: 'HU' },
    expected: {
      subject: 'packing-orders',
      id: ({ packing_order_id }) => packing_order_id,
      statuses: ['open'],
      columns: ['item_code', 'product_name', 'batch_num', 'qty', 'packed_qty'],
    },
    files: [
      { path: '/handling-units/{id}/label?format=pdf', label: 'label' },
      { path: '/handling-units/{id}/label?format=zpl', label: 'label_zpl' },
    ],
    actions: [
      {
        operation: 'POST /handling-units/{id}/contents',
        label: 'pack_all',
        asks: [],
        at: 'expected',
        line: (line) => (serialsOf(line).length === 0 || line.packed_qty === 0) && goods(line, unpacked(line)),
        isForAll: true,
        each: true,
        atOnce: true,
      },
      {
        operation: 'POST /handling-units/{id}/contents',
        isAside: ({ contents }) => contents.length > 0,
        at: 'expected',
        line: (line) => goods(line, unpacked(line)),
        lineLabel: 'pack_line',
      },
      {
        operation: 'POST /handling-units/{id}/contents/remove',
        isAside: () => true,
        unless: { 'contents.length': [0] },
        at: 'contents',
        line: (line) => goods(line, line.qty),
        lineLabel: 'unpack_line',
      },
      { operation: 'POST /handling-units/{id}/close' },
      { operation: 'POST /handling-units/{id}/reopen', atOnce: true },
      {
        operation: 'DELETE /handling-units/{id}',
        name: 'close',
        when: { 'contents.length': [0] },
        endsWork: true,
      },
    ],
  },
  {
    name: 'rfid-validations',
    group: 'outbound',
    columns: ['code', 'result', 'subject', 'reader', 'expected', 'matched', 'created_at'],
    title: 'code',
    finds: { ids: 'RV' },
    create: 'POST /rfid-validations',
  },
  {
    name: 'transfers',
    kind: 'transfer',
    group: 'moving',
    columns: ['id', 'status', 'from_whs_code', 'to_whs_code', 'operator', 'created_at'],
    title: 'id',
    finds: { ids: 'kind' },
    create: 'POST /transfers',
    actions: [
      { operation: 'POST /transfers/{id}/execute' },
      { operation: 'POST /transfers/{id}/acknowledge', atOnce: true },
      {
        operation: 'DELETE /transfers/{id}',
        name: 'execute',
        endsWork: true,
      },
    ],
  },
  {
    name: 'transfer-orders',
    kind: 'transfer_order',
    group: 'moving',
    columns: ['code', 'status', 'from', 'to', 'has_discrepancy', 'due_at', 'headline'],
    title: 'code',
    finds: { search: 'text' },
    create: 'POST /transfer-orders',
    links: { from: 'warehouses', to: 'warehouses' },
    actions: [
      { operation: 'POST /transfer-orders/{id}/release', atOnce: true },
      {
        operation: 'POST /transfer-orders/{id}/picks',
        label: 'pick_as_allocated',
        asks: [],
        sends: { as_allocated: true },
        line: (line) => goods(line, unpicked(line), line.picked_qty),
        isForAll: true,
        atOnce: true,
      },
      {
        operation: 'POST /transfer-orders/{id}/picks',
        asks: GOODS,
        line: (line) => goods(line, unpicked(line), line.picked_qty),
        takes: unpicked,
        lineLabel: 'pick_line',
      },
      {
        operation: 'POST /transfer-orders/{id}/picks/undo',
        line: (line) => goods(line, line.picked_qty),
        takes: ({ picked_qty }) => picked_qty,
        lineLabel: 'undo_line',
      },
      {
        operation: 'POST /transfer-orders/{id}/finish-picking',
        loses: ({ lines }) => losses(lines, unpicked),
        atOnce: ({ lines }) => losses(lines, unpicked).length === 0,
      },
      { operation: 'POST /transfer-orders/{id}/dispatch' },
      {
        operation: 'POST /transfer-orders/{id}/receive',
        values: ({ lines }) => rows(lines, onTheWay, 8),
        line: (line) => onTheWay(line) > 0 && rows([line], onTheWay, 1),
        putsAway: ({ to }) => to.whs_code,
        lineLabel: 'receive_line',
      },
      { operation: 'POST /transfer-orders/{id}/close' },
      { operation: 'POST /transfer-orders/{id}/cancel', endsWork: true },
    ],
  },
  {
    name: 'warehouses',
    group: 'setup',
    columns: ['whs_code', 'name', 'city', 'country', 'positions_count'],
    title: 'whs_code',
    finds: { search: 'text' },
    create: 'POST /warehouses',
    change: 'PATCH /warehouses/{id}',
    actions: [{ operation: 'DELETE /warehouses/{id}', endsWork: true }],
    hidden: ['positions'],
    related: {
      'warehouse-positions.warehouse_id': { subject: 'warehouse-positions', filter: 'id' },
      'stocks.warehouse_id': { subject: 'stocks', filter: 'id' },
      'map.warehouse': { subject: 'map', filter: 'id' },
    },
  },
  {
    name: 'warehouse-positions',
    group: 'setup',
    columns: ['bin_code', 'whs_code', 'type', 'is_pickable', 'is_blocked', 'pick_sequence'],
    title: 'bin_code',
    finds: { search: 'text' },
    more: ['POST /warehouse-positions/bulk'],
    create: 'POST /warehouse-positions',
    change: 'PATCH /warehouse-positions/{id}',
    actions: [{ operation: 'DELETE /warehouse-positions/{id}', endsWork: true }],
    files: [
      { path: '/warehouse-positions/labels?ids={ids}&size={size}', label: 'label' },
      { path: '/warehouse-positions/labels?ids={ids}&size={size}&format=zpl', label: 'label_zpl' },
    ],
    related: {
      'stocks.bin_code': { subject: 'stocks', filter: 'bin_code', isShown: true },
      'pick-faces.bin_code': { subject: 'pick-faces', filter: 'bin_code' },
    },
  },
  {
    name: 'pick-faces',
    group: 'setup',
    columns: ['bin_code', 'whs_code', 'item_code', 'minimum', 'maximum'],
    title: 'bin_code',
    finds: { bin_code: 'whole', item_code: 'whole' },
    create: 'POST /pick-faces',
    actions: [{ operation: 'DELETE /pick-faces/{id}', endsWork: true }],
  },
  {
    name: 'holds',
    kind: 'hold',
    group: 'outbound',
    columns: ['code', 'status', 'external_ref', 'warehouse_code', 'lines', 'expires_at'],
    title: 'code',
    finds: { ids: 'HD' },
    create: 'POST /holds',
    sells: true,
    lines: 'sellable',
    actions: [
      { operation: 'POST /holds/{id}/extend' },
      { operation: 'POST /holds/{id}/release', endsWork: true },
    ],
  },
  {
    name: 'counts',
    kind: 'count',
    isApproved: true,
    group: 'stock',
    columns: ['code', 'status', 'warehouse_code', 'progress', 'assigned_to', 'due_at', 'created_at'],
    title: 'code',
    finds: { ids: 'CN' },
    create: 'POST /counts',
    lines: 'count_lines',
    sheet: {
      label: 'count_sheet',
      columns: ['bin_code', 'item_code', 'product_name', 'batch_num', 'serial_number', 'inventory_status'],
      blanks: ['counted_qty', 'counted_at'],
    },
    actions: [
      {
        operation: 'POST /counts/{id}/lines',
        asks: ['item_code', 'bin_code', 'batch', 'serials', 'qty', 'unit', 'inventory_status', 'counted_at'],
        line: (line) => line.status !== 'counted' && countedStock(line),
        isShared: true,
      },
      {
        operation: 'POST /counts/{id}/lines',
        label: 'position_is_empty',
        lineLabel: 'position_is_empty',
        asks: ['bin_code'],
        sends: { empty: true },
        line: ({ status, item_code, bin_code }) => status !== 'counted' && item_code === null && { bin_code },
        isShared: true,
      },
      {
        operation: 'POST /counts/{id}/finish',
        atOnce: true,
        isAside: ({ progress }) => progress.counted < progress.lines,
      },
      {
        operation: 'POST /counts/{id}/recount',
        values: ({ lines }) => ({ lines: lines.filter(isDue).map((/** @type {Resource} */ one) => one.line_num) }),
      },
      {
        operation: 'POST /counts/{id}/recount',
        label: 'count_line_again',
        lineLabel: 'count_line_again',
        line: ({ status, movement_id, line_num }) =>
          status === 'counted' && movement_id === null && { lines: [line_num] },
        isOnlyAtLines: true,
        isShared: true,
        atOnce: true,
      },
      {
        operation: 'POST /counts/{id}/post',
        loses: ({ lines }) =>
          lines.filter(isDue).map((/** @type {Resource} */ one) => ({ item_code: one.item_code, qty: one.difference })),
      },
      { operation: 'POST /counts/{id}/cancel', endsWork: true },
    ],
  },
  {
    name: 'approvals',
    kind: 'approval',
    group: 'oversight',
    columns: ['created_at', 'status', 'code', 'message', 'requested_by', 'expires_at'],
    title: 'id',
    finds: { ids: 'kind' },
    actions: [
      { operation: 'POST /approvals/{id}/grant' },
      { operation: 'POST /approvals/{id}/deny', endsWork: true },
    ],
    hidden: ['request'],
    panels: ['approval'],
  },
  {
    name: 'imports',
    kind: 'import',
    group: 'catalog',
    permission: 'imports.run',
    columns: ['id', 'kind', 'file', 'status', 'rows', 'documents'],
    title: 'id',
    finds: { ids: 'kind' },
    hidden: ['error_report_url'],
    create: 'POST /imports',
    actions: [
      { operation: 'POST /imports/{id}/commit' },
      { operation: 'POST /imports/{id}/cancel', endsWork: true },
    ],
    waits: ['uploaded', 'validating', 'committing'],
    panels: ['import'],
  },
  {
    name: 'exports',
    kind: 'export',
    group: 'catalog',
    columns: ['code', 'status', 'objects', 'format', 'rows', 'created_at', 'expires_at'],
    title: 'code',
    finds: { ids: 'XP' },
    create: 'POST /exports',
    actions: [{ operation: 'POST /exports/{id}/cancel', endsWork: true }],
    hidden: ['files'],
    panels: ['export'],
    waits: ['pending', 'running'],
  },
  {
    name: 'users',
    kind: 'user',
    group: 'setup',
    permission: 'users.manage',
    columns: ['username', 'name', 'email', 'is_active', 'two_step'],
    title: 'username',
    finds: { search: 'text' },
    create: 'POST /users',
    change: 'PATCH /users/{id}',
    actions: [
      { operation: 'POST /users/{id}/reset-password', isForOthers: true, endsWork: true },
      { operation: 'DELETE /users/{id}/totp', when: { two_step: [true] }, endsWork: true },
      { operation: 'DELETE /users/{id}', endsWork: true },
    ],
  },
  {
    name: 'roles',
    kind: 'role',
    group: 'setup',
    permission: 'users.manage',
    columns: ['name', 'description', 'permissions'],
    title: 'name',
    finds: { search: 'text' },
    create: 'POST /roles',
    change: 'PATCH /roles/{id}',
    actions: [{ operation: 'DELETE /roles/{id}', endsWork: true }],
    related: { 'users.role': { subject: 'users', filter: 'id' } },
  },
  {
    name: 'api-clients',
    kind: 'client',
    group: 'setup',
    permission: 'users.manage',
    columns: ['name', 'kind', 'id', 'scopes', 'created_at'],
    title: 'name',
    finds: { name: 'entered' },
    create: 'POST /api-clients',
    change: 'PATCH /api-clients/{id}',
    actions: [
      {
        operation: 'POST /api-clients/{id}/rotate-secret',
        when: { kind: ['integration'] },
        endsWork: true,
      },
      {
        operation: 'DELETE /api-clients/{id}/previous-secret',
        when: { 'secrets.length': [2] },
        endsWork: true,
      },
      { operation: 'DELETE /api-clients/{id}', endsWork: true },
    ],
    related: { 'request-log.client': { subject: 'request-log', filter: 'id' } },
  },
  {
    name: 'request-log',
    group: 'setup',
    permission: 'users.manage',
    columns: ['at', 'method', 'path', 'status', 'code', 'fields', 'duration_ms', 'replayed', 'request_id'],
    title: 'request_id',
    about: { subject: 'api-clients', filter: 'client' },
    setting: 'request_log',
  },
  {
    name: 'webhooks',
    kind: 'webhook',
    group: 'setup',
    permission: 'users.manage',
    columns: ['url', 'events', 'is_active', 'failure_count', 'last_triggered_at'],
    title: 'url',
    finds: { name: 'entered' },
    create: 'POST /webhooks',
    change: 'PATCH /webhooks/{id}',
    actions: [
      { operation: 'POST /webhooks/{id}/test', when: { is_active: [true] }, leads: 'deliveries' },
      { operation: 'POST /webhooks/{id}/recover', when: { is_active: [true] } },
      { operation: 'POST /webhooks/{id}/rotate-secret', endsWork: true },
      { operation: 'DELETE /webhooks/{id}', endsWork: true },
    ],
    parts: ['deliveries'],
  },
  {
    name: 'deliveries',
    kind: 'delivery',
    parent: 'webhooks',
    item: 'delivery',
    group: 'setup',
    permission: 'users.manage',
    columns: ['created_at', 'event', 'status', 'attempts', 'next_attempt_at'],
    title: 'id',
    waits: ['pending'],
    actions: [{ operation: 'POST /webhooks/{id}/deliveries/{delivery}/redeliver' }],
  },
  {
    name: 'audit-log',
    group: 'oversight',
    permission: 'users.manage',
    columns: ['created_at', 'action', 'actor', 'target', 'changes', 'details', 'reason'],
    title: 'id',
  },
];

/** @type {ReadonlyMap<string, Subject>} */
export const SUBJECT = new Map(SUBJECTS.map((subject) => [subject.name, subject]));

/**
 * The subject of each kind of object that a resource names with its id.
 *
 * @type {Readonly<Record<string, string>>}
 */
export const SUBJECT_OF_KIND = Object.fromEntries(
  SUBJECTS.flatMap(({ kind, name }) => (kind === undefined ? [] : [[kind, name]])),
);

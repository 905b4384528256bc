/**
 * The subjects of the console, one entry for each list of the interface. What is not here comes
 * from `console/interface`: fields, filters, sort orders, bodies and permissions.
 */

/** @typedef {import('./core/subject.js').Subject} Subject */

/** Pickings whose work is done by the actions of their transfer order. */
const OF_TRANSFER_ORDER = { 'document.type': ['transfer_order'] };

/** Units of a packing order whose goods are still being packed. */
const PACKING = { 'whole.status': ['open', 'in_progress'] };

/** @type {readonly Subject[]} */
export const SUBJECTS = [
  {
    name: 'products',
    kind: 'product',
    group: 'catalog',
    columns: ['item_code', 'name', 'type', 'barcode', 'sales_unit'],
    title: 'item_code',
    create: 'POST /products',
    change: 'PATCH /products/{id}',
    actions: [{ operation: 'DELETE /products/{id}', endsWork: true }],
    panels: ['packaging'],
    related: {
      'stocks.item_code': { subject: 'stocks', filter: 'item_code' },
      'stock-levels.item_code': { subject: 'stock-levels', filter: 'item_code' },
      'stock-movements.item_code': { subject: 'stock-movements', filter: 'item_code' },
      'pick-faces.item_code': { subject: 'pick-faces', filter: 'item_code' },
    },
  },
  {
    name: 'product-categories',
    group: 'catalog',
    columns: ['name', 'description', 'updated_at'],
    title: 'name',
    create: 'POST /product-categories',
    change: 'PATCH /product-categories/{id}',
    actions: [{ operation: 'DELETE /product-categories/{id}', endsWork: true }],
  },
  {
    name: 'clients',
    group: 'catalog',
    columns: ['document_id', 'name', 'email', 'phone'],
    title: 'name',
    create: 'POST /clients',
    change: 'PATCH /clients/{id}',
    actions: [{ operation: 'DELETE /clients/{id}', endsWork: true }],
  },
  {
    name: 'providers',
    group: 'catalog',
    columns: ['id', 'name', 'email', 'phone'],
    title: 'name',
    create: 'POST /providers',
    change: 'PATCH /providers/{id}',
    actions: [{ operation: 'DELETE /providers/{id}', endsWork: true }],
  },
  {
    name: 'stocks',
    group: 'stock',
    columns: ['item_code', 'product_name', 'position', 'batch_num', 'serial_number', 'inventory_status', 'qty'],
    title: 'item_code',
    create: 'POST /stock-adjustments',
    links: { position: 'warehouse-positions' },
  },
  {
    name: 'stock-levels',
    group: 'stock',
    columns: ['item_code', 'whs_code', 'on_hand', 'allocated', 'available', 'in_transit'],
    title: 'item_code',
  },
  {
    name: 'stock-movements',
    kind: 'stock_movement',
    group: 'stock',
    columns: ['created_at', 'type', 'item_code', 'qty', 'from', 'to', 'batch_num'],
    title: 'id',
  },
  {
    name: 'entry-documents',
    kind: 'entry_document',
    group: 'inbound',
    columns: ['doc_num', 'external_ref', 'type', 'card_name', 'status', 'due_date'],
    title: 'doc_num',
    create: 'POST /entry-documents',
    actions: [
      { operation: 'POST /receipts', when: { status: ['open', 'assigned', 'partial-complete'] } },
      {
        operation: 'POST /entry-documents/{id}/close',
        when: { status: ['open', 'partial-complete'] },
        endsWork: true,
      },
    ],
    related: { 'receipts.document_id': { subject: 'receipts', filter: 'id' } },
  },
  {
    name: 'receipts',
    kind: 'receipt',
    group: 'inbound',
    columns: ['id', 'status', 'document', 'operator', 'created_at'],
    title: 'id',
    create: 'POST /receipts',
    links: { document: 'entry-documents' },
    actions: [
      { operation: 'POST /receipts/{id}/start', when: { status: ['pending'] } },
      { operation: 'POST /receipts/{id}/lines', when: { status: ['started'] } },
      { operation: 'POST /receipts/{id}/lines/undo', when: { status: ['started'] } },
      { operation: 'POST /receipts/{id}/finalize', when: { status: ['started'] } },
      { operation: 'POST /receipts/{id}/synchronize', when: { status: ['finalized'] } },
      {
        operation: 'POST /receipts/{id}/cancel',
        when: { status: ['pending', 'started'] },
        endsWork: true,
      },
      {
        operation: 'POST /receipts/{id}/revert',
        when: { status: ['finalized', 'synchronized'] },
        endsWork: true,
      },
    ],
  },
  {
    name: 'returns',
    kind: 'return',
    group: 'inbound',
    columns: ['code', 'external_ref', 'status', 'exit_doc_num', 'card_name', 'warehouse_code', 'created_at'],
    title: 'code',
    create: 'POST /returns',
    actions: [
      { operation: 'POST /returns/{id}/lines', when: { status: ['expected', 'receiving'] } },
      { operation: 'POST /returns/{id}/lines/undo', when: { status: ['receiving'] } },
      { operation: 'POST /returns/{id}/finish', when: { status: ['receiving'] } },
      { operation: 'POST /returns/{id}/dispositions', when: { status: ['received'] } },
      {
        operation: 'POST /returns/{id}/cancel',
        when: { status: ['expected'] },
        endsWork: true,
      },
    ],
  },
  {
    name: 'exit-documents',
    kind: 'exit_document',
    group: 'outbound',
    columns: ['doc_num', 'external_ref', 'type', 'card_name', 'status', 'priority', 'due_date'],
    title: 'doc_num',
    create: 'POST /exit-documents',
    actions: [
      { operation: 'POST /pickings', when: { status: ['open', 'partial-complete'] } },
      {
        operation: 'POST /packing-orders',
        field: 'exit_document_id',
        when: { status: ['partial-complete', 'completed'] },
      },
      {
        operation: 'POST /exit-documents/{id}/dispatch',
        when: { status: ['partial-complete', 'completed'] },
      },
      {
        operation: 'POST /exit-documents/{id}/close',
        when: { status: ['open'] },
        endsWork: true,
      },
    ],
    related: {
      'pickings.document_id': { subject: 'pickings', filter: 'id' },
      'packing-orders.exit_document_id': { subject: 'packing-orders', filter: 'id' },
      'returns.exit_document_id': { subject: 'returns', filter: 'id' },
    },
  },
  {
    name: 'pickings',
    kind: 'picking',
    group: 'outbound',
    columns: ['code', 'status', 'priority', 'document', 'operator', 'has_shortage', 'created_at'],
    title: 'code',
    create: 'POST /pickings',
    links: { document: 'exit-documents' },
    actions: [
      {
        operation: 'POST /pickings/{id}/start',
        when: { status: ['pending'] },
        unless: OF_TRANSFER_ORDER,
      },
      { operation: 'POST /pickings/{id}/allocate', when: { status: ['pending', 'started'] } },
      {
        operation: 'POST /pickings/{id}/picks',
        when: { status: ['started'] },
        unless: OF_TRANSFER_ORDER,
      },
      {
        operation: 'POST /pickings/{id}/picks/undo',
        when: { status: ['started'] },
        unless: OF_TRANSFER_ORDER,
      },
      {
        operation: 'POST /pickings/{id}/finalize',
        when: { status: ['started'] },
        unless: OF_TRANSFER_ORDER,
      },
      { operation: 'POST /pickings/{id}/synchronize', when: { status: ['finalized'] } },
      {
        operation: 'POST /pickings/{id}/cancel',
        when: { status: ['pending', 'started'] },
        unless: OF_TRANSFER_ORDER,
        endsWork: true,
      },
      {
        operation: 'POST /pickings/{id}/revert',
        when: { status: ['finalized', 'synchronized'] },
        unless: OF_TRANSFER_ORDER,
        endsWork: true,
      },
    ],
  },
  {
    name: 'waves',
    group: 'outbound',
    permission: 'exits.manage',
    columns: ['code', 'status', 'strategy', 'warehouse_code', 'cutoff_at', 'created_at'],
    title: 'code',
    create: 'POST /waves',
    actions: [
      { operation: 'POST /waves/{id}/plan', when: { status: ['draft'] } },
      { operation: 'POST /waves/{id}/release', when: { status: ['planned'] } },
      { operation: 'POST /waves/{id}/complete', when: { status: ['picked'] } },
      { operation: 'POST /waves/{id}/close', when: { status: ['completed'] } },
      {
        operation: 'POST /waves/{id}/cancel',
        when: { status: ['draft', 'planned', 'released', 'in_progress'] },
        endsWork: true,
      },
    ],
  },
  {
    name: 'packing-orders',
    kind: 'packing_order',
    group: 'outbound',
    columns: ['code', 'status', 'exit_doc_num', 'station', 'units_count', 'created_at'],
    title: 'code',
    create: 'POST /packing-orders',
    actions: [
      {
        operation: 'POST /packing-orders/{id}/handling-units',
        when: { status: ['open', 'in_progress'] },
      },
      { operation: 'POST /packing-orders/{id}/complete', when: { status: ['open', 'in_progress'] } },
      {
        operation: 'POST /packing-orders/{id}/cancel',
        when: { status: ['open', 'in_progress', 'packed'] },
        endsWork: true,
      },
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
    whole: { subject: 'packing-orders', id: 'packing_order_id' },
    files: [
      { path: '/handling-units/{id}/label?format=pdf', label: 'label' },
      { path: '/handling-units/{id}/label?format=zpl', label: 'label_zpl' },
    ],
    actions: [
      { operation: 'POST /handling-units/{id}/contents', when: { status: ['open'], ...PACKING } },
      {
        operation: 'POST /handling-units/{id}/contents/remove',
        when: { status: ['open'], ...PACKING },
        unless: { 'contents.length': [0] },
      },
      { operation: 'POST /handling-units/{id}/close', when: { status: ['open'], ...PACKING } },
      { operation: 'POST /handling-units/{id}/reopen', when: { status: ['closed'], ...PACKING } },
      {
        operation: 'DELETE /handling-units/{id}',
        when: { status: ['open'], 'contents.length': [0], ...PACKING },
        endsWork: true,
      },
    ],
  },
  {
    name: 'rfid-validations',
    group: 'outbound',
    columns: ['code', 'result', 'subject', 'reader', 'expected', 'matched', 'created_at'],
    title: 'code',
    create: 'POST /rfid-validations',
  },
  {
    name: 'transfers',
    kind: 'transfer',
    group: 'moving',
    columns: ['id', 'status', 'from_whs_code', 'to_whs_code', 'operator', 'created_at'],
    title: 'id',
    create: 'POST /transfers',
    actions: [
      { operation: 'POST /transfers/{id}/execute', when: { wms_status: ['pending', 'error'] } },
      { operation: 'POST /transfers/{id}/acknowledge', when: { wms_status: ['transferred'] } },
      {
        operation: 'DELETE /transfers/{id}',
        when: { wms_status: ['pending', 'error'] },
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
    create: 'POST /transfer-orders',
    links: { from: 'warehouses', to: 'warehouses' },
    actions: [
      { operation: 'POST /transfer-orders/{id}/release', when: { status: ['draft'] } },
      { operation: 'POST /transfer-orders/{id}/picks', when: { status: ['released', 'picking'] } },
      { operation: 'POST /transfer-orders/{id}/picks/undo', when: { status: ['picking', 'picked'] } },
      { operation: 'POST /transfer-orders/{id}/finish-picking', when: { status: ['picking'] } },
      { operation: 'POST /transfer-orders/{id}/dispatch', when: { status: ['picked'] } },
      {
        operation: 'POST /transfer-orders/{id}/receive',
        when: { status: ['in_transit', 'receiving'] },
      },
      { operation: 'POST /transfer-orders/{id}/close', when: { status: ['received'] } },
      {
        operation: 'POST /transfer-orders/{id}/cancel',
        when: { status: ['draft', 'released', 'picking', 'picked'] },
        endsWork: true,
      },
    ],
  },
  {
    name: 'warehouses',
    group: 'setup',
    columns: ['whs_code', 'name', 'city', 'country', 'positions_count'],
    title: 'whs_code',
    create: 'POST /warehouses',
    change: 'PATCH /warehouses/{id}',
    actions: [{ operation: 'DELETE /warehouses/{id}', endsWork: true }],
    hidden: ['positions'],
    related: {
      'warehouse-positions.warehouse_id': { subject: 'warehouse-positions', filter: 'id' },
      'stocks.warehouse_id': { subject: 'stocks', filter: 'id' },
    },
    panels: ['map'],
  },
  {
    name: 'warehouse-positions',
    group: 'setup',
    columns: ['bin_code', 'whs_code', 'type', 'is_pickable', 'is_blocked', 'pick_sequence'],
    title: 'bin_code',
    more: ['POST /warehouse-positions/bulk'],
    create: 'POST /warehouse-positions',
    change: 'PATCH /warehouse-positions/{id}',
    actions: [{ operation: 'DELETE /warehouse-positions/{id}', endsWork: true }],
    related: {
      'stocks.bin_code': { subject: 'stocks', filter: 'bin_code' },
      'pick-faces.bin_code': { subject: 'pick-faces', filter: 'bin_code' },
    },
  },
  {
    name: 'pick-faces',
    group: 'setup',
    columns: ['bin_code', 'whs_code', 'item_code', 'minimum', 'maximum'],
    title: 'bin_code',
    create: 'POST /pick-faces',
    actions: [{ operation: 'DELETE /pick-faces/{id}', endsWork: true }],
  },
  {
    name: 'approvals',
    kind: 'approval',
    group: 'inbound',
    columns: ['created_at', 'status', 'code', 'message', 'requested_by', 'expires_at'],
    title: 'id',
    actions: [
      { operation: 'POST /approvals/{id}/grant', when: { status: ['pending'] } },
      {
        operation: 'POST /approvals/{id}/deny',
        when: { status: ['pending'] },
        endsWork: true,
      },
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
    hidden: ['error_report_url'],
    create: 'POST /imports',
    actions: [
      { operation: 'POST /imports/{id}/commit', when: { status: ['validated', 'failed'] } },
      {
        operation: 'POST /imports/{id}/cancel',
        when: { status: ['uploaded', 'validating', 'validated'] },
        endsWork: true,
      },
    ],
    panels: ['import'],
  },
  {
    name: 'users',
    kind: 'user',
    group: 'setup',
    permission: 'users.manage',
    columns: ['username', 'name', 'email', 'is_active', 'two_step'],
    title: 'username',
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
  },
  {
    name: 'webhooks',
    kind: 'webhook',
    group: 'setup',
    permission: 'users.manage',
    columns: ['url', 'events', 'is_active', 'failure_count', 'last_triggered_at'],
    title: 'url',
    create: 'POST /webhooks',
    change: 'PATCH /webhooks/{id}',
    actions: [
      { operation: 'POST /webhooks/{id}/test', when: { is_active: [true] } },
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
    actions: [{ operation: 'POST /webhooks/{id}/deliveries/{delivery}/redeliver' }],
  },
  {
    name: 'audit-log',
    group: 'setup',
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

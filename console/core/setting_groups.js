/**
 * The settings of a company by what they concern: key of the words of a group → its settings.
 *
 * @type {Readonly<Record<string, readonly string[]>>}
 */
export const SETTING_GROUPS = {
  group_setup: ['timezone', 'modules', 'request_log'],
  group_inbound: ['receipt_tolerance', 'blind_returns'],
  group_outbound: [
    'pick_substitution',
    'minutes_per_unit',
    'minutes_per_trip',
    'packing_required',
    'rfid_required',
    'dispatch_rest',
  ],
  group_stock: ['expired_stock', 'oversell', 'capacity'],
  group_oversight: ['approval_shortage_percent', 'approval_adjustment_qty'],
  group_catalog: ['commit_drops', 'imports_require_kind_scope', 'gs1_company_prefix', 'sscc_extension_digit'],
};

/**
 * The figures of today's work. Each is the total of a list with filters, and leads to this list.
 */

/**
 * @typedef {import('./subject.js').Subject} Subject
 *
 * @typedef {object} Figure
 * @property {string} subject
 * @property {string} [id] of the resource whose part the list is
 * @property {Record<string, string>} query
 * @property {keyof import('./words.js').Words['texts']} [label] what is special about these
 * @property {string} [detail] a name that says more
 * @property {number} [count] if it is known without a request of its own
 * @property {boolean} [isMore] there may be more than this count
 */

/** Days for which something that failed is shown: it keeps its state for ever. */
const RECENT_DAYS = 7;

/** Days ahead for which goods that expire are shown. */
const SOON_DAYS = 7;

/** Statuses of documents whose goods are not all there, or not all gone: a filter takes them together. */
const UNFINISHED = 'open,assigned,partial-complete';

/**
 * Return the figures of work that goes on: they are shown even if there is none.
 *
 * @returns {Figure[]}
 */
export function workFigures() {
  return [
    { subject: 'receipts', query: { status: 'pending' } },
    { subject: 'receipts', query: { status: 'started' } },
    { subject: 'pickings', query: { status: 'pending' } },
    { subject: 'pickings', query: { status: 'started' } },
    { subject: 'waves', query: { status: 'released' } },
    { subject: 'waves', query: { status: 'in_progress' } },
    { subject: 'transfer-orders', query: { status: 'in_transit' } },
    { subject: 'transfer-orders', query: { status: 'receiving' } },
    { subject: 'counts', query: { status: 'open' } },
    { subject: 'counts', query: { status: 'counting' } },
  ];
}

/**
 * Return the figures of what somebody should look at: they are shown if there is some.
 *
 * @param {string} today such as `2026-03-01`, in the time zone of the company
 * @returns {Figure[]}
 */
export function attentionFigures(today) {
  const yesterday = dayAfter(today, -1);
  const recent = dayAfter(today, -RECENT_DAYS);
  return [
    { subject: 'approvals', query: { status: 'pending' } },
    { subject: 'exit-documents', label: 'urgent', query: { status: UNFINISHED, priority: 'Alta' } },
    { subject: 'exit-documents', label: 'overdue', query: { status: UNFINISHED, due_to: yesterday } },
    { subject: 'entry-documents', label: 'overdue', query: { status: UNFINISHED, due_to: yesterday } },
    {
      subject: 'stocks',
      label: 'expires_soon',
      query: {
        inventory_status: 'available',
        expires_to: dayAfter(today, SOON_DAYS),
        sort: 'expiry_date',
      },
    },
    {
      subject: 'pickings',
      label: 'with_shortage',
      query: { status: 'finalized', has_shortage: 'true', from: recent },
    },
    {
      subject: 'transfer-orders',
      label: 'with_discrepancy',
      query: { status: 'received', has_discrepancy: 'true' },
    },
    { subject: 'counts', label: 'to_post', query: { status: 'counted' } },
    {
      subject: 'rfid-validations',
      label: 'recently',
      query: { result: 'failed', from: recent },
    },
    {
      subject: 'imports',
      label: 'recently',
      query: { status: 'failed', from: recent },
    },
  ];
}

/**
 * Return the figures of the inactive webhooks, and of the failed deliveries of each one whose last
 * deliveries failed.
 *
 * @param {readonly {id: number, url: string, is_active: boolean, failure_count: number}[]} webhooks all
 * @returns {Figure[]}
 */
export function webhookFigures(webhooks) {
  const failing = webhooks.filter(({ failure_count: failures }) => failures > 0);
  return [
    {
      subject: 'webhooks',
      label: 'inactive',
      query: { is_active: 'false' },
      count: webhooks.filter(({ is_active: isActive }) => !isActive).length,
    },
    ...failing.map(({ id, url }) => ({
      subject: 'deliveries',
      id: String(id),
      query: { status: 'failed' },
      detail: new URL(url).host,
    })),
  ];
}

/**
 * Return the figure of the pick faces of a warehouse that are below their minimum.
 *
 * @param {string} warehouse code
 * @param {number} count
 * @param {boolean} isMore
 * @returns {Figure}
 */
export function replenishmentFigure(warehouse, count, isMore) {
  return { subject: 'replenishments', label: 'below_minimum', query: { warehouse }, detail: warehouse, count, isMore };
}

/**
 * Return the day some days after another one.
 *
 * @param {string} day
 * @param {number} days
 */
function dayAfter(day, days) {
  const date = new Date(`${day}T00:00:00Z`);
  date.setUTCDate(date.getUTCDate() + days);
  return date.toISOString().slice(0, 10);
}

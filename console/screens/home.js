/**
 * Today's work: figures, each of which leads to the list that it counts.
 */

import { calls, locale, permissions } from '../core/app.js';
import { href } from '../core/address.js';
import { useLoaded } from '../core/use.js';
import { fieldLabel, subjectLabel, text, valueLabel } from '../core/words.js';
import { h } from '../vendor/preact.js';
import { formatNumber } from '../core/format.js';
import { Refusal } from '../core/refusal.js';

/**
 * @typedef {object} Figure
 * @property {string} subject
 * @property {Record<string, string>} query
 * @property {string} [permission]
 */

/** @type {readonly Figure[]} */
export const FIGURES = [
  { subject: 'approvals', query: { status: 'pending' } },
  { subject: 'receipts', query: { status: 'pending' } },
  { subject: 'receipts', query: { status: 'started' } },
  { subject: 'pickings', query: { status: 'pending' } },
  { subject: 'pickings', query: { status: 'started' } },
  { subject: 'exit-documents', query: { status: 'open', priority: '1' } },
  { subject: 'waves', query: { status: 'released' }, permission: 'exits.manage' },
  { subject: 'transfer-orders', query: { status: 'in_transit' } },
  { subject: 'transfer-orders', query: { has_discrepancy: 'true' } },
  { subject: 'imports', query: { status: 'failed' }, permission: 'imports.run' },
  { subject: 'webhooks', query: {}, permission: 'users.manage' },
];

export function Home() {
  const allowed = FIGURES.filter(({ permission }) => !permission || permissions().has(permission));
  return h('section', {}, [
    h('h1', {}, text('today')),
    h(
      'ul',
      { class: 'figures' },
      allowed.map((figure) => h(FigureCard, { key: JSON.stringify(figure), figure })),
    ),
  ]);
}

/**
 * @param {object} props
 * @param {Figure} props.figure
 */
function FigureCard({ figure }) {
  const { subject, query } = figure;
  const { result, error } = useLoaded(JSON.stringify(figure), async (signal) => {
    const operation = /** @type {'GET /products'} */ (`GET /${subject}`);
    const page = await calls.read(operation, { query: { ...query, per_page: 1 }, signal });
    return page.body.meta.total;
  });
  if (error instanceof Refusal && (error.status === 403 || error.status === 404)) {
    return null; // the module is switched off, or the session is restricted
  }
  return h('li', {}, [
    h('a', { href: href([subject], query) }, [
      h('strong', {}, result === null ? '…' : formatNumber(result, locale.value)),
      h('span', {}, subjectLabel(subject)),
      h('span', { class: 'quiet' }, Object.entries(query).map(described).join(', ')),
    ]),
  ]);
}

/** @param {[string, string]} condition */
function described([name, value]) {
  return value === 'true' ? fieldLabel(name) : valueLabel(value);
}

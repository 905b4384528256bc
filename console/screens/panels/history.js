/**
 * What happened to a resource: its steps, stock movements and entries of the audit log, the latest
 * first.
 */

import { calls, locale, permissions } from '../../core/app.js';
import { href } from '../../core/address.js';
import { formatInstant, formatNumber } from '../../core/format.js';
import { userNames } from '../../core/names.js';
import { useLoaded } from '../../core/use.js';
import { fieldLabel, text, valueLabel } from '../../core/words.js';
import { useEffect, useRef } from '../../vendor/hooks.js';
import { h } from '../../vendor/preact.js';
import { Notice } from '../../components/notice.js';

/** @typedef {{at: string, label: string, to?: string}} Event */

/** Times of a resource that are none of its steps. */
const NO_STEPS = new Set(['due_at', 'expires_at', 'cutoff_at', 'next_attempt_at', 'updated_at']);

/** Kinds of work that movements name. */
const MOVING = new Set(['exit_document', 'picking', 'receipt', 'return', 'transfer', 'transfer_order']);

/** Kinds of targets that the audit log names. */
const AUDITED = new Set(['approval', 'client', 'receipt', 'role', 'user', 'webhook']);

/** Entries of each kind; the lists have all. */
const MOST = 50;

/**
 * @param {object} props
 * @param {import('../../core/subject.js').Subject} props.subject
 * @param {Record<string, any>} props.resource
 */
export function Panel({ subject: { kind = '', name }, resource }) {
  const work = MOVING.has(kind) ? kind : undefined;
  const target = AUDITED.has(kind) && permissions().has('users.manage') ? kind : undefined;
  const loaded = useLoaded(`${name} ${resource.id}`, async (signal) => {
    const [movements, entries] = await Promise.all([
      work === undefined ? [] : movementsOf(work, resource.id, signal),
      target === undefined ? [] : entriesOf(target, String(resource.id), signal),
    ]);
    return [...movements, ...entries];
  });
  const steps = stepsOf(resource);
  const events = [...(loaded.result ?? []), ...steps].sort((one, other) => other.at.localeCompare(one.at));
  const shown = useRef(resource);
  useEffect(() => {
    if (shown.current !== resource) {
      shown.current = resource;
      loaded.reload(); // not every action changes the resource itself, such as a test of a webhook
    }
  }, [resource]);
  if (work === undefined && target === undefined && steps.length < 2) {
    return null; // that it was created says its field
  }
  return h('section', {}, [
    h('h2', {}, text('history')),
    h(Notice, { error: loaded.error, onRetry: loaded.reload }),
    h(
      'ol',
      { class: 'history' },
      events.map(({ at, label, to }, index) =>
        h('li', { key: index }, [
          h('time', { dateTime: at, class: 'quiet' }, formatInstant(at, locale.value)),
          ' ',
          to === undefined ? label : h('a', { href: to }, label),
        ]),
      ),
    ),
  ]);
}

/**
 * Return the steps of a resource, by the times that it has.
 *
 * @param {Record<string, any>} resource
 * @returns {Event[]}
 */
function stepsOf(resource) {
  return Object.entries(resource).flatMap(([name, at]) =>
    name.endsWith('_at') && typeof at === 'string' && !NO_STEPS.has(name) ? [{ at, label: fieldLabel(name) }] : [],
  );
}

/**
 * @param {string} type
 * @param {number} id
 * @param {AbortSignal} signal
 * @returns {Promise<Event[]>}
 */
async function movementsOf(type, id, signal) {
  const query = { document_type: type, document_id: id, per_page: MOST, sort: '-created_at' };
  const { body } = await calls.read('GET /stock-movements', { query, signal });
  const names = await userNames(body.data.map(({ user_id: user }) => user));
  return body.data.map(({ id: number, created_at: at, type: what, qty, item_code: code, from, to, user_id: user }) => {
    const way = [from, to].map((place) => place?.bin_code ?? place?.whs_code);
    const goods = `${valueLabel(what)}: ${formatNumber(qty, locale.value)} ${code}`;
    const label = [goods, way.some(Boolean) && way.filter(Boolean).join(' → '), names.get(String(user))];
    return { at, label: label.filter(Boolean).join(' · '), to: href(['stock-movements', number]) };
  });
}

/**
 * @param {string} type
 * @param {string} target
 * @param {AbortSignal} signal
 * @returns {Promise<Event[]>}
 */
async function entriesOf(type, target, signal) {
  const query = { target_type: type, target, per_page: MOST };
  const { body } = await calls.read('GET /audit-log', { query, signal });
  return body.data.map((entry) => ({
    at: entry.created_at,
    label: [valueLabel(entry.action), entry.actor?.name].filter(Boolean).join(' · '),
    to: href(['audit-log'], { target_type: type, target }),
  }));
}

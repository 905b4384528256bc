/**
 * What happened to a resource: stock movements and entries of the audit log, the latest first.
 */

import { calls, locale, permissions } from '../../core/app.js';
import { href } from '../../core/address.js';
import { formatInstant, formatNumber } from '../../core/format.js';
import { useLoaded } from '../../core/use.js';
import { text, valueLabel } from '../../core/words.js';
import { useEffect, useRef } from '../../vendor/hooks.js';
import { h } from '../../vendor/preact.js';
import { Notice } from '../../components/notice.js';

/** @typedef {{at: string, label: string, to: string}} Event */

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
    return [...movements, ...entries].sort((a, b) => b.at.localeCompare(a.at));
  });
  const shown = useRef(resource);
  useEffect(() => {
    if (shown.current !== resource) {
      shown.current = resource;
      loaded.reload(); // not every action changes the resource itself, such as a test of a webhook
    }
  }, [resource]);
  if (work === undefined && target === undefined) {
    return null;
  }
  return h('section', {}, [
    h('h2', {}, text('history')),
    h(Notice, { error: loaded.error, onRetry: loaded.reload }),
    loaded.result?.length === 0 && h('p', { class: 'quiet' }, text('nothing_there')),
    h(
      'ol',
      { class: 'history' },
      (loaded.result ?? []).map(({ at, label, to }, index) =>
        h('li', { key: index }, [
          h('time', { dateTime: at, class: 'quiet' }, formatInstant(at, locale.value)),
          ' ',
          h('a', { href: to }, label),
        ]),
      ),
    ),
  ]);
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
  return body.data.map((movement) => ({
    at: movement.created_at,
    label: `${valueLabel(movement.type)}: ${formatNumber(movement.qty, locale.value)} ${movement.item_code}`,
    to: href(['stock-movements', movement.id]),
  }));
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

/**
 * What changed of a resource, from the feed of changes of the company, the latest first.
 */

import { calls, locale } from '../../core/app.js';
import { formatInstant, formatNumber } from '../../core/format.js';
import { userNames } from '../../core/names.js';
import { useLoaded } from '../../core/use.js';
import { text, valueLabel } from '../../core/words.js';
import { useEffect, useRef } from '../../vendor/hooks.js';
import { h } from '../../vendor/preact.js';
import { Notice } from '../../components/notice.js';

/** Transactions of the company that are searched, and those of a page. */
const MOST = 2000;
const PAGE = 500;

const OPERATIONS = /** @type {const} */ ({
  created: 'was_created',
  updated: 'was_changed',
  deleted: 'was_deleted',
});

/** @typedef {{at: string, operation: keyof typeof OPERATIONS, version: number, actor: string}} Event */

/**
 * @param {object} props
 * @param {string} props.object
 * @param {Record<string, any>} props.resource
 */
export function Panel({ object, resource }) {
  const loaded = useLoaded(`changes ${object} ${resource.id}`, (signal) =>
    eventsOf(object, resource.id, signal),
  );
  const shown = useRef(resource);
  useEffect(() => {
    if (shown.current !== resource) {
      shown.current = resource;
      loaded.reload();
    }
  }, [resource]);
  const events = loaded.result;
  return h('section', {}, [
    h(Notice, { error: loaded.error, onRetry: loaded.reload }),
    events === null && loaded.isLoading && h('p', { class: 'quiet' }, text('loading')),
    h(
      'ol',
      { class: 'history' },
      (events ?? []).map(({ at, operation, version, actor }) =>
        h('li', { key: version }, [
          h('time', { dateTime: at, class: 'quiet' }, formatInstant(at, locale.value)),
          ` ${text('change_of', { operation: text(OPERATIONS[operation]), version, actor })}`,
        ]),
      ),
    ),
    events !== null && h('p', { class: 'quiet' }, text('changes_searched', { count: formatNumber(MOST, locale.value) })),
  ]);
}

/**
 * @param {string} object
 * @param {number | string} id
 * @param {AbortSignal} signal
 * @returns {Promise<Event[]>}
 */
async function eventsOf(object, id, signal) {
  const latest = await calls.read('GET /changes/latest', { signal });
  const { position, epoch } = latest.body.data;
  /** @type {(Omit<Event, 'actor'> & {actor: {type: string, id: string | null}})[]} */
  const events = [];
  for (let after = Math.max(0, position - MOST); after < position; ) {
    const query = { after, epoch, objects: object, per_page: PAGE };
    const { body } = await calls.read('GET /changes', { query, signal });
    for (const { committed_at: at, actor, changes } of body.data) {
      for (const { id: changed, operation, version } of changes) {
        if (String(changed) === String(id)) {
          events.unshift({ at, operation, version, actor });
        }
      }
    }
    after = body.meta.last;
  }
  const names = await userNames(events.flatMap(({ actor }) => (actor.type === 'user' ? actor.id : [])));
  return events.map(({ actor, ...event }) => ({
    ...event,
    actor: names.get(String(actor.id)) ?? [valueLabel(actor.type), actor.id].filter(Boolean).join(' '),
  }));
}

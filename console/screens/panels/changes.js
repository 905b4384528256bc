/**
 * What changed of a resource, from the feed of changes of the company, the latest first.
 */

import { locale } from '../../core/app.js';
import { latestTransactions, MOST } from '../../core/feed.js';
import { formatInstant, formatNumber } from '../../core/format.js';
import { userNames } from '../../core/names.js';
import { objectOf } from '../../core/subject.js';
import { loadInterface, useLoaded } from '../../core/use.js';
import { actionLabel, subjectLabel, text, valueLabel } from '../../core/words.js';
import { SUBJECTS } from '../../subjects.js';
import { useEffect, useRef } from '../../vendor/hooks.js';
import { h } from '../../vendor/preact.js';
import { Notice } from '../../components/notice.js';

const OPERATIONS = /** @type {const} */ ({
  created: 'was_created',
  updated: 'was_changed',
  deleted: 'was_deleted',
});

/** @typedef {{at: string, what: string, version: number, actor: string}} Event */

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
      (events ?? []).map(({ at, what, version, actor }) =>
        h('li', { key: version }, [
          h('time', { dateTime: at, class: 'quiet' }, formatInstant(at, locale.value)),
          ` ${text('change_of', { operation: what, version, actor })}`,
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
  const events = (await latestTransactions(object, signal)).flatMap(({ committed_at: at, actor, action, changes }) =>
    changes
      .filter((change) => String(change.id) === String(id))
      .map(({ operation, version }) => ({ at, operation, version, actor, action })),
  );
  const [names, labels] = await Promise.all([
    userNames(events.flatMap(({ actor }) => (actor.type === 'user' ? actor.id : []))),
    labelsOf(events.flatMap(({ action }) => action ?? []), object),
  ]);
  return events.reverse().map(({ at, operation, version, actor, action }) => ({
    at,
    version,
    what: labels.get(action ?? '') ?? text(OPERATIONS[operation]),
    actor: names.get(String(actor.id)) ?? [valueLabel(actor.type), actor.id].filter(Boolean).join(' '),
  }));
}

/**
 * Return the words of requests, such as `POST /receipts/{id}/finalize`; those about other objects
 * name them.
 *
 * @param {readonly string[]} actions
 * @param {string} object whose changes they made
 * @returns {Promise<ReadonlyMap<string, string>>}
 */
async function labelsOf(actions, object) {
  const named = [...new Set(actions)].map(async (action) => {
    const subject = SUBJECTS.find((one) => one.name === action.split('/')[1]);
    const write = subject && (await loadInterface(subject.name)).actions[action];
    if (subject === undefined || write === undefined) {
      return [];
    }
    const label = actionLabel(write.name);
    const isOwn = objectOf(subject) === object;
    return [/** @type {const} */ ([action, isOwn ? label : `${subjectLabel(subject.name)}: ${label}`])];
  });
  return new Map((await Promise.all(named)).flat());
}

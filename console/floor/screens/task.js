/** A task: taking it, its steps one after the other, and its end. */

import { go, href } from '../../core/address.js';
import { calls, newAction } from '../../core/app.js';
import { isUnknown, Refusal } from '../../core/refusal.js';
import { valueLabel } from '../../core/words.js';
import { useEffect, useState } from '../../vendor/hooks.js';
import { h } from '../../vendor/preact.js';
import { Lazy } from '../../components/lazy.js';
import { Notice } from '../../components/notice.js';
import { isOver, kindOf, KINDS, MOVES } from '../kinds.js';
import { taskName } from '../names.js';
import { parts, reload, scans, store, worker } from '../state.js';
import { holderOf, movesIn, refreshTask, takeTask } from '../take.js';
import { taskOf } from '../work.js';
import { say } from '../words.js';
import { Steps } from './steps.js';
import { ScreenTitle } from './title.js';

/** Milliseconds between two looks at what others changed. */
const INTERVAL = 15_000;

/**
 * @param {object} props
 * @param {string} props.id of the task
 */
export function TaskScreen({ id }) {
  const task = taskOf(id);
  const [name] = id.split('/');
  useEffect(() => {
    const timer = setInterval(() => void refresh(id), INTERVAL);
    return () => clearInterval(timer);
  }, [id]);
  const isEnded = scans.value.some(({ task, isEnd, status }) => task === id && isEnd && status === 'done');
  useEffect(() => {
    if (isEnded) {
      void putAway(id);
    }
  }, [isEnded]);
  if (!KINDS.some((kind) => kind.name === name)) {
    return h(ScreenTitle, { title: say('no_such_task') });
  }
  if (id === `${MOVES}/choose`) {
    return h(Lazy, { load: () => import('./warehouses.js'), name: 'Warehouses', props: {} });
  }
  return h('section', { class: 'task' }, [
    h(ScreenTitle, { title: taskName(id) }),
    task === undefined ? h(Taking, { id }) : h(isOver(task) && !isEnded ? Over : Steps, { task, key: id }),
  ]);
}

/**
 * Take a task off the device, unless a scan of it waits or needs a decision.
 *
 * @param {string} id
 */
async function putAway(id) {
  await store.forget(parts().owner, id);
  go(href(['floor', '']), { replace: true }); // first: a task that is not on the device is taken
  await reload();
}

/**
 * A task that somebody else has ended, or cancelled.
 *
 * @param {object} props
 * @param {import('../store.js').Task} props.task
 */
function Over({ task }) {
  const count = scans.value.filter((scan) => scan.task === task.id && scan.status !== 'done').length;
  const status = valueLabel(task.resources[task.id].status, 'status');
  return h('div', { class: 'notice', role: 'status' }, [
    h('p', {}, say('task_over', { status })),
    count > 0
      ? h('p', {}, say('waiting', { count }))
      : h('button', { type: 'button', class: 'main', onClick: () => void putAway(task.id) }, say('put_away', { task: taskName(task.id) })),
  ]);
}

/**
 * Read a task again, unless something of it waits to be sent.
 *
 * @param {string} id
 */
async function refresh(id) {
  const task = taskOf(id);
  const isBusy = scans.value.some((scan) => scan.task === id && scan.status === 'waiting');
  if (task && !isBusy && document.visibilityState === 'visible') {
    await refreshTask(parts(), task).then(reload, () => undefined);
  }
}

/**
 * @param {object} props
 * @param {string} props.id
 */
function Taking({ id }) {
  const [error, setError] = useState(/** @type {unknown} */ (null));
  const [taker, setTaker] = useState(/** @type {string | null} */ (null));
  const [action] = useState(newAction);
  const kind = kindOf(id);
  const take = async (isHelp = false, isAgain = false) => {
    setError(null);
    setTaker(null);
    try {
      if (kind.filter === undefined) {
        await store.keepTask(movesIn(parts().owner, id.split('/')[1] ?? ''));
        await reload();
        return;
      }
      const parameters = { id: id.split('/')[1] ?? '' };
      const { body } = await calls.read(/** @type {any} */ (`GET /${kind.name}/{id}`), { parameters });
      const { data } = /** @type {any} */ (body);
      const holder = holderOf(data);
      if (holder !== null && String(holder.id) !== worker.value?.userId && !isHelp) {
        setTaker(holder.name ?? String(holder.id));
        return;
      }
      const isPending = data.status === 'pending' && kind.start !== undefined;
      await takeTask(parts(), id, isPending ? action : null);
      await reload();
    } catch (failure) {
      if (failure instanceof Refusal && failure.code === 'conflict' && !isAgain) {
        await take(isHelp, true); // somebody else was faster: it shows who
      } else {
        setError(failure);
      }
    }
  };
  useEffect(() => void take(), []);
  if (taker !== null) {
    return h('div', { class: 'notice', role: 'alert' }, [
      h('p', {}, say('taken_by', { name: taker })),
      h('div', { class: 'buttons' }, [
        h('button', { type: 'button', class: 'main', onClick: () => void take(true) }, say('help')),
        h('a', { class: 'button', href: href(['floor', '']) }, say('tasks')),
      ]),
    ]);
  }
  if (isUnknown(error)) {
    return h('div', { class: 'notice', role: 'alert' }, [
      h('p', {}, say('needs_network')),
      h('button', { type: 'button', onClick: () => void take() }, say('again')),
    ]);
  }
  return error ? h(Notice, { error, onRetry: () => void take() }) : h('p', { class: 'quiet' }, say('taking'));
}

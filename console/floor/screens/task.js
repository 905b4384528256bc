/** A task: its steps one after the other, and its end. */

import { go, href } from '../../core/address.js';
import { valueLabel } from '../../core/words.js';
import { useEffect } from '../../vendor/hooks.js';
import { h } from '../../vendor/preact.js';
import { Lazy } from '../../components/lazy.js';
import { isOver, KINDS, MOVES } from '../kinds.js';
import { taskName } from '../names.js';
import { parts, reload, scans, store } from '../state.js';
import { refreshTask } from '../take.js';
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
    task === undefined
      ? h(Lazy, { load: () => import('./taking.js'), name: 'Taking', props: { id } })
      : h(isOver(task) && !isEnded ? Over : Steps, { task, key: id }),
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

/** A task: taking it, its steps one after the other, and its end. */

import { go, href } from '../../core/address.js';
import { calls, newAction } from '../../core/app.js';
import { isUnknown, Refusal } from '../../core/refusal.js';
import { useEffect, useState } from '../../vendor/hooks.js';
import { h } from '../../vendor/preact.js';
import { Lazy } from '../../components/lazy.js';
import { Notice } from '../../components/notice.js';
import { kindOf, KINDS, MOVES } from '../kinds.js';
import { taskName } from '../names.js';
import { parts, reload, scans, store } from '../state.js';
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
  const own = scans.value.filter((scan) => scan.task === id);
  const isOver = own.some((scan) => scan.isEnd && scan.status === 'done');
  useEffect(() => {
    if (isOver) {
      void store.forget(parts().owner, id).then(reload);
      go(href(['floor', '']), { replace: true });
    }
  }, [isOver]);
  if (!KINDS.some((kind) => kind.name === name)) {
    return h(ScreenTitle, { title: say('no_such_task') });
  }
  if (id === `${MOVES}/choose`) {
    return h(Lazy, { load: () => import('./warehouses.js'), name: 'Warehouses', props: {} });
  }
  return h('section', { class: 'task' }, [
    h(ScreenTitle, { title: taskName(id) }),
    task ? h(Steps, { task, key: id }) : h(Taking, { id }),
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
    const { refreshTask } = await import('../take.js');
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
  const take = async (isHelp = false) => {
    setError(null);
    try {
      const { movesIn, takeTask } = await import('../take.js');
      if (kind.filter === undefined) {
        await store.keepTask(movesIn(parts().owner, id.split('/')[1] ?? ''));
        await reload();
        return;
      }
      const parameters = { id: id.split('/')[1] ?? '' };
      const { body } = await calls.read(/** @type {any} */ (`GET /${kind.name}/{id}`), { parameters });
      const { status, operator, assigned_to: assigned } = /** @type {any} */ (body).data;
      const person = operator ?? assigned ?? null;
      const isOthers = person !== null && `${parts().owner}`.split('/')[1] !== String(person.id);
      const isPending = status === 'pending' && kind.start !== undefined;
      if (isOthers && !isPending && !isHelp) {
        setTaker(person.name ?? String(person.id));
        return;
      }
      await takeTask(parts(), id, isPending ? action : null);
      await reload();
    } catch (failure) {
      // Somebody else was faster: it shows who.
      const isTaken = failure instanceof Refusal && failure.code === 'conflict';
      setError(isTaken ? null : failure);
      if (isTaken) {
        setTaker('');
        void take();
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

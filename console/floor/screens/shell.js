/** The frame of all screens of the floor: who works here, what waits, and one screen. */

import { address, href } from '../../core/address.js';
import { session } from '../../core/app.js';
import { useEffect, useState } from '../../vendor/hooks.js';
import { h } from '../../vendor/preact.js';
import { Listener } from '../listener.js';
import { scanned } from '../scanning.js';
import { decisions, handOver, isElsewhere, notice, outcome, pending, waiting, worker } from '../state.js';
import { say } from '../words.js';
import { Lazy } from '../../components/lazy.js';
import { Enter } from './enter.js';

const listener = new Listener(scanned);
addEventListener('keydown', (event) => listener.press(event), { capture: true });

// The Enter of a scanner that inserts its text, instead of typing it, presses what has the focus.
addEventListener('click', ({ detail, target }) => {
  const button = target instanceof Element ? target.closest('button') : null;
  if (detail > 0 && button !== null && document.activeElement === button) {
    button.blur(); // tapped: the keyboard still reaches it
  }
});

/**
 * @param {object} props
 * @param {unknown} props.broken why the device has no storage
 * @param {unknown} props.refused why the session of the tab does not continue
 */
export function Floor({ broken, refused }) {
  const path = address.value.path.slice(1);
  if (broken !== null) {
    return h('main', { class: 'front' }, h('p', { class: 'notice', role: 'alert' }, say('no_storage')));
  }
  if (isElsewhere.value) {
    return h('main', { class: 'front' }, [
      h('p', { class: 'notice', role: 'alert' }, say('open_elsewhere')),
      h('button', { class: 'main', onClick: useHere }, say('use_here')),
    ]);
  }
  if (worker.value === null) {
    return h(Enter, { refused });
  }
  return h('div', { class: 'floor' }, [
    h(Bar, {}),
    session.isEnded.value && h(Enter, { refused: null, isOver: true }),
    h('main', {}, screenOf(path)),
  ]);
}

/** Take the floor back from the other tab. */
function useHere() {
  handOver();
  location.reload();
}

/** @param {readonly string[]} path */
function screenOf([kind, id]) {
  if (kind === undefined) {
    return h(Lazy, { load: () => import('./tasks.js'), name: 'TaskList', props: {} });
  }
  switch (kind) {
    case 'decisions':
      return h(Lazy, { load: () => import('./decisions.js'), name: 'Decisions', props: {} });
    case 'look-up':
      return h(Lazy, {
        key: `look-up ${id}`,
        load: () => import('./look_up.js'),
        name: 'LookUp',
        props: { text: id ?? '' },
      });
    case 'kept':
      return h(Lazy, { load: () => import('./kept.js'), name: 'Kept', props: {} });
    case 'menu':
      return h(Lazy, { load: () => import('./menu.js'), name: 'Menu', props: {} });
    default:
      return h(Lazy, {
        key: `${kind} ${id}`,
        load: () => import('./task.js'),
        name: 'TaskScreen',
        props: { id: `${kind}/${id}` },
      });
  }
}

/** Ends of sending that have words of their own. */
const TROUBLES = /** @type {const} */ (['limited', 'suspended', 'cancelled', 'moved', 'unkept', 'outdated']);

/** What is known of the connection, and what waits. */
function Bar() {
  const [isOnline, setOnline] = useState(navigator.onLine);
  useEffect(() => {
    const update = () => setOnline(navigator.onLine);
    addEventListener('online', update);
    addEventListener('offline', update);
    return () => {
      removeEventListener('online', update);
      removeEventListener('offline', update);
    };
  }, []);
  const others = pending.value.length - waiting.value.length - decisions.value.length;
  const isCut = !isOnline || outcome.value === 'unanswered';
  const trouble = TROUBLES.find((one) => one === outcome.value);
  return h('header', { class: isCut ? 'bar cut' : 'bar' }, [
    h('a', { href: href(['floor', '']), class: 'button' }, say('tasks')),
    h('p', { role: 'status' }, [
      isCut && h('span', {}, say('no_network')),
      trouble && h('span', {}, say(trouble)),
      trouble === 'moved' && h('span', { lang: 'en' }, notice.value),
      waiting.value.length > 0 && h('span', {}, say('waiting', { count: waiting.value.length })),
      others > 0 && h('span', {}, say('waiting_of_others', { count: others })),
    ]),
    decisions.value.length > 0 &&
      h(
        'a',
        { href: href(['floor', 'decisions']), class: 'button danger' },
        say('decisions', { count: decisions.value.length }),
      ),
    h('a', { href: href(['floor', 'menu']), class: 'button', 'aria-label': say('menu') }, '☰'),
  ]);
}

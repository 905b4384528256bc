/** Locking, signing out, and the way to the console. */

import { href } from '../../core/address.js';
import { CONSOLE } from '../../core/app.js';
import { useState } from '../../vendor/hooks.js';
import { h } from '../../vendor/preact.js';
import { taskName } from '../names.js';
import { handOver, leave, lock, pending, tasks, vault, waiting, worker } from '../state.js';
import { say } from '../words.js';
import { ScreenTitle } from './title.js';

export function Menu() {
  const [isAsking, setAsking] = useState(false);
  const count = waiting.value.length;
  const unsent = tasks.value.filter(({ scanned = [] }) => scanned.length > 0).map(({ id }) => taskName(id));
  return h('section', { class: 'menu' }, [
    h(ScreenTitle, { title: say('menu') }),
    h('p', { class: 'quiet' }, say('company', { company: worker.value?.tenant ?? '' })),
    vault.isOpen && h('button', { type: 'button', onClick: lock }, say('lock')),
    vault.isOpen && count > 0 && h('p', { class: 'quiet' }, say('lock_keeps', { count })),
    pending.value.length > 0 &&
      h('a', { class: 'button', href: href(['floor', 'kept']) }, say('kept_scans')),
    isAsking
      ? h('div', { class: 'notice', role: 'alert' }, [
          count > 0 && h('p', {}, say('leave_with_waiting', { count })),
          unsent.length > 0 && h('p', {}, say('leave_with_lines', { tasks: unsent.join(', ') })),
          h('button', { type: 'button', class: 'danger', onClick: () => void leave() }, say('sign_out')),
          h('button', { type: 'button', onClick: () => setAsking(false) }, say('stay')),
        ])
      : h(
          'button',
          { type: 'button', onClick: () => (count + unsent.length > 0 ? setAsking(true) : void leave()) },
          say('sign_out'),
        ),
    h('a', { class: 'button', href: CONSOLE, target: '_self', onClick: handOver }, say('console')),
  ]);
}

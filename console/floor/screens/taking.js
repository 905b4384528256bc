/** Taking a task: it is put on the device, unless somebody else has it. */

import { href } from '../../core/address.js';
import { calls, newAction, session } from '../../core/app.js';
import { isUnknown, Refusal } from '../../core/refusal.js';
import { useEffect, useState } from '../../vendor/hooks.js';
import { h } from '../../vendor/preact.js';
import { Notice } from '../../components/notice.js';
import { kindOf } from '../kinds.js';
import { parts, reload, store, worker } from '../state.js';
import { movesIn, takeTask } from '../take.js';
import { holderOf } from '../task_rows.js';
import { say } from '../words.js';

/**
 * @param {object} props
 * @param {string} props.id
 */
export function Taking({ id }) {
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
  const isEnded = session.isEnded.value;
  useEffect(() => {
    if (!isEnded || kind.filter === undefined) {
      void take(); // also after the sign-in that an ended session needs
    }
  }, [isEnded]);
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

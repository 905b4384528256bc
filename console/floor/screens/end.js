/** The end of a task: what is done, and why something is left. */

import { href } from '../../core/address.js';
import { valueLabel } from '../../core/words.js';
import { h } from '../../vendor/preact.js';
import { kindOf } from '../kinds.js';
import { numberText } from '../names.js';
import { inTurn } from '../scanning.js';
import { record } from '../state.js';
import { say } from '../words.js';
import { endOf, unitsToClose } from '../work.js';
import { Result } from './result.js';
import { Undo } from './undo.js';

const REASONS = /** @type {const} */ (['could_not_locate', 'damaged', 'expired', 'other']);

/**
 * @param {object} props
 * @param {import('../store.js').Task} props.task
 * @param {readonly import('../steps.js').Line[]} props.open
 * @param {boolean} props.isDone
 * @param {() => void} props.onBack
 */
export function End({ task, open, isDone, onBack }) {
  const kind = kindOf(task.id);
  const ending = endOf(task);
  const unclosed = isDone ? unitsToClose(task) : [];
  /** @param {SubmitEvent} event */
  const submit = (event) => {
    event.preventDefault();
    const reason = new FormData(/** @type {HTMLFormElement} */ (event.currentTarget)).get('reason');
    const request = kind.end?.(task, reason === null ? null : String(reason));
    inTurn(async () => {
      if (request && !endOf(task)) {
        await record({ task: task.id, text: say(kind.isWhole ? 'carry_out' : 'end_task'), request, isEnd: true });
      }
    });
  };
  if (ending?.status === 'waiting') {
    return h('p', { class: 'ask' }, say('ending'));
  }
  if (ending) {
    return h('a', { class: 'button danger', href: href(['floor', 'decisions']) }, say('decide'));
  }
  return h('form', { onSubmit: submit }, [
    h('p', { class: 'ask' }, isDone ? say(unclosed.length > 0 ? 'close_first' : 'all_done', { units: unclosed.join(', ') }) : say('left_open', { count: open.length })),
    h(
      'ul',
      {},
      open.map(({ item_code, position, qty, done }) =>
        h('li', { key: `${item_code} ${position}` }, `${numberText(qty - done)} × ${item_code} ${position ?? ''}`),
      ),
    ),
    !isDone && kind.reason &&
      h('fieldset', {}, [
        h('legend', {}, say('why_left')),
        ...REASONS.map((reason) =>
          h('label', { key: reason, class: 'choice' }, [
            h('input', { type: 'radio', name: 'reason', value: kind.reason === 'text' ? valueLabel(reason) : reason, required: true }),
            valueLabel(reason),
          ]),
        ),
      ]),
    h('div', { class: 'buttons' }, [
      kind.end &&
        (isDone ? !kind.endsItself : !kind.isWhole) &&
        unclosed.length === 0 &&
        h('button', { class: 'main' }, say(kind.isWhole ? 'carry_out' : 'end_task')),
      h('button', { type: 'button', onClick: onBack }, say('back_to_work')),
      h(Undo, { task }),
    ]),
    h(Result, {}),
  ]);
}

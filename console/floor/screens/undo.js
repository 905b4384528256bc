/** The last scan of a task, or its last line that is not sent yet, taken back. */

import { h } from '../../vendor/preact.js';
import { kindOf } from '../kinds.js';
import { inTurn } from '../scanning.js';
import { say } from '../words.js';
import { lastLine, lastScan, takeLineBack, undo } from '../work.js';

/**
 * @param {object} props
 * @param {import('../store.js').Task} props.task
 */
export function Undo({ task }) {
  const last = kindOf(task.id).isWhole ? undefined : lastScan(task.id);
  const found = last ?? lastLine(task);
  const onClick = () => inTurn(() => (last ? undo(last) : takeLineBack(task)));
  return found && h('button', { type: 'button', onClick }, say('undo', { text: found.text }));
}

/** What the last scan gave, or why what somebody pressed was not done. */

import { h } from '../../vendor/preact.js';
import { result } from '../scanning.js';

export function Result() {
  const shown = result.value;
  const look = shown === null ? 'result' : shown.isRight ? 'result right' : 'result wrong';
  return h('p', { class: look, role: 'alert' }, shown?.text ?? '');
}

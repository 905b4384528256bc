/** Scans that the service refused, and what somebody decides about each. */

import { href } from '../../core/address.js';
import { errorLabel, fieldLabel } from '../../core/words.js';
import { h } from '../../vendor/preact.js';
import { taskName } from '../names.js';
import { inTurn } from '../scanning.js';
import { decisions, reload, sender, sendNow } from '../state.js';
import { say } from '../words.js';
import { Result } from './result.js';
import { ScreenTitle } from './title.js';

/** @typedef {import('../store.js').Scan} Scan */

export function Decisions() {
  const found = decisions.value;
  return h('section', {}, [
    h(ScreenTitle, { title: say('decide') }),
    h(Result, {}),
    found.length === 0 && h('p', {}, say('nothing_to_decide')),
    h('ul', { class: 'cards' }, found.map((scan) => h('li', { key: scan.number }, h(Card, { scan })))),
  ]);
}

/**
 * @param {object} props
 * @param {Scan} props.scan
 */
function Card({ scan }) {
  /** @param {'again' | 'skip' | 'leave'} decision */
  const decide = (decision) => inTurn(async () => {
    await (await sender()).decide(scan, decision);
    await reload();
    sendNow();
  });
  const { code = '', message = '', problems = [] } = scan.trouble ?? {};
  return h('article', { class: 'card' }, [
    h('h2', {}, h('a', { href: href(['floor', ...scan.task.split('/')]) }, taskName(scan.task))),
    h('p', { class: 'ask' }, scan.text),
    h('p', { class: 'notice' }, code === 'unknown' ? say('outcome_unknown') : code === 'broken' ? say('scan_broken') : (errorLabel(code) ?? message)),
    h('ul', {}, [
      (errorLabel(code) || code === 'broken') && message && problems.length === 0 && h('li', {}, message),
      ...problems.map((one) => h('li', { key: one.field }, `${fieldLabel(one.field)}: ${one.message}`)),
    ]),
    h('div', { class: 'buttons' }, [
      h('button', { type: 'button', class: 'main', onClick: () => decide('again') }, say('again')),
      h('button', { type: 'button', class: 'danger', onClick: () => decide('skip') }, say('skip')),
      scan.status === 'refused' &&
        h('button', { type: 'button', onClick: () => decide('leave') }, say('leave_to_supervisor')),
    ]),
    scan.status === 'left' && h('p', { class: 'quiet' }, say('is_left')),
  ]);
}

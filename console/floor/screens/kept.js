/** The scans that the device still has, also of people who cannot sign in any more. */

import { calls, isPermitted } from '../../core/app.js';
import { saveFile } from '../../core/files.js';
import { useLoaded } from '../../core/use.js';
import { useState } from '../../vendor/hooks.js';
import { h } from '../../vendor/preact.js';
import { keptBy } from '../kept.js';
import { failed } from '../scanning.js';
import { parts, pending, reload, store } from '../state.js';
import { say } from '../words.js';
import { Result } from './result.js';
import { ScreenTitle } from './title.js';

export function Kept() {
  const found = keptBy(pending.value, parts().owner, isPermitted('users.manage'));
  return h('section', {}, [
    h(ScreenTitle, { title: say('kept_scans') }),
    h(Result, {}),
    found.length === 0 && h('p', {}, say('nothing_kept')),
    found.map(({ owner, scans }) => h(Person, { key: owner, owner, scans })),
  ]);
}

/**
 * @param {object} props
 * @param {string} props.owner
 * @param {readonly import('../store.js').Scan[]} props.scans
 */
function Person({ owner, scans }) {
  const [isAsking, setAsking] = useState(false);
  const [, id = ''] = owner.split('/');
  const { result } = useLoaded(owner, async (signal) => {
    const isOwn = owner === parts().owner; // whom everybody may read
    const { body } = await calls.read('GET /users/{id}', { parameters: { id: isOwn ? 'me' : id }, signal });
    return body.data.name;
  });
  const count = scans.length;
  const save = () => {
    const content = new Blob([JSON.stringify({ owner, scans }, null, 2)], { type: 'application/json' });
    saveFile(content, `scans-${owner.replace('/', '-')}.json`);
  };
  const discard = () => {
    store.discard(owner, scans.map(({ number }) => number)).then(reload, failed);
  };
  return h('article', { class: 'card' }, [
    h('h2', {}, result ?? `#${id}`),
    h('ul', {}, scans.map(({ number, text }) => h('li', { key: number }, text))),
    isAsking && h('p', { class: 'notice', role: 'alert' }, say('discard_question', { count })),
    h('div', { class: 'buttons' }, [
      h('button', { type: 'button', onClick: save }, say('save_scans')),
      isAsking
        ? [
            h('button', { type: 'button', class: 'danger', onClick: discard }, say('discard_scans', { count })),
            h('button', { type: 'button', onClick: () => setAsking(false) }, say('keep_scans')),
          ]
        : h('button', { type: 'button', onClick: () => setAsking(true) }, say('discard_scans', { count })),
    ]),
  ]);
}

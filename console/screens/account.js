/**
 * The account of the signed-in person: password, second factor and sessions.
 */

import { calls, session } from '../core/app.js';
import { loadInterface, useLoaded } from '../core/use.js';
import { actionLabel, text } from '../core/words.js';
import { useState } from '../vendor/hooks.js';
import { h } from '../vendor/preact.js';
import { Lazy } from '../components/lazy.js';
import { Notice } from '../components/notice.js';
import { Definitions } from '../components/definitions.js';
import { Secrets, secretsOf } from '../components/secrets.js';
import { Title } from '../components/title.js';

/**
 * What people do with their own accounts, in the order in which they need it, and whether it needs
 * two-step verification to be on or off.
 *
 * @type {readonly (readonly [operation: string, isTwoStep: boolean | null])[]}
 */
const OPERATIONS = [
  ['POST /users/{id}/password', null],
  ['POST /users/{id}/totp', false],
  ['POST /users/{id}/totp/confirm', false],
  ['POST /users/{id}/totp/recovery-codes', true],
  ['DELETE /users/{id}/totp', true],
];

const END_SESSION = 'DELETE /users/{id}/sessions/{session}';
const END_OTHERS = 'POST /users/{id}/end-sessions';

/** Those that revoke tokens: the session continues with a new one, or asks for a sign-in at once. */
const REVOKING = new Set([
  'POST /users/{id}/password',
  'POST /users/{id}/totp/confirm',
  'DELETE /users/{id}/totp',
  END_OTHERS,
]);

export function Account() {
  const description = useLoaded('users', () => loadInterface('users'));
  const user = useLoaded('me', async (signal) => {
    const { body } = await calls.read('GET /users/{id}', { parameters: { id: 'me' }, signal });
    return body.data;
  });
  const sessions = useLoaded('sessions', async (signal) => {
    const { body } = await calls.read('GET /users/{id}/sessions', {
      parameters: { id: 'me' },
      query: { per_page: 100 },
      signal,
    });
    return body.data;
  });
  const isTwoStep = user.result?.two_step;
  const [chosen, setChosen] = useState(/** @type {string | null} */ (null));
  const [ended, setEnded] = useState(''); // the session to end
  const [secrets, setSecrets] = useState(/** @type {Record<string, string>} */ ({}));
  const actions = description.result?.actions ?? {};
  /**
   * @param {string} operation
   * @param {string} [session]
   */
  const button = (operation, session = '') =>
    operation in actions &&
    h(
      'button',
      {
        key: operation,
        type: 'button',
        class: operation.startsWith('DELETE') ? 'danger' : undefined,
        onClick: () => {
          setEnded(session);
          setChosen(operation);
        },
      },
      actionLabel(actions[operation]?.name ?? operation),
    );
  return h('section', {}, [
    h('header', { class: 'screen' }, h(Title, { title: text('account') })),
    // a page of its own, which takes the session of this tab
    h('p', {}, h('a', { href: 'floor/', target: '_self' }, text('floor'))),
    h(Notice, { error: description.error, onRetry: description.reload }),
    h(Notice, { error: user.error, onRetry: user.reload }),
    h('p', {}, text('two_step_explained')),
    h(
      'div',
      { class: 'actions' },
      OPERATIONS.filter(([, needed]) => (needed ?? isTwoStep) === isTwoStep).map(([operation]) =>
        button(operation),
      ),
    ),
    Object.keys(secrets).length > 0 && h(Secrets, { secrets, onClose: () => setSecrets({}) }),
    h('h2', {}, text('sessions')),
    h('p', {}, text('sessions_explained')),
    h(Notice, { error: sessions.error, onRetry: sessions.reload }),
    (sessions.result?.length ?? 0) > 1 && h('div', { class: 'actions' }, button(END_OTHERS)),
    ...(sessions.result ?? []).map((one) =>
      h('article', { key: one.id }, [
        h(Definitions, {
          fields: (description.result?.lists['/users/{id}/sessions']?.fields ?? []).filter(
            ({ name }) => name !== 'id',
          ),
          values: { ...one },
        }),
        !one.is_current && button(END_SESSION, one.id),
      ]),
    ),
    chosen !== null &&
      description.result !== null &&
      h(Lazy, {
        key: chosen,
        load: () => import('./dialogs.js'),
        name: 'ActionDialog',
        props: {
          action: { operation: chosen, endsWork: chosen.startsWith('DELETE') },
          parameters: { id: 'me', session: ended },
          description: description.result,
          etag: null,
          onStale: () => undefined,
          onClose: () => setChosen(null),
          onDone: (/** @type {any} */ { body }) => {
            setChosen(null);
            setSecrets(secretsOf(body?.data));
            user.reload();
            sessions.reload();
            if (REVOKING.has(chosen)) {
              session.renew().catch(() => undefined);
            }
          },
        },
      }),
  ]);
}

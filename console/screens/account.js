/**
 * The account of the signed-in person: password and second factor.
 */

import { calls, session } from '../core/app.js';
import { loadInterface, useLoaded } from '../core/use.js';
import { actionLabel, text } from '../core/words.js';
import { useState } from '../vendor/hooks.js';
import { h } from '../vendor/preact.js';
import { Notice } from '../components/notice.js';
import { Secrets, secretsOf } from '../components/secrets.js';
import { Title } from '../components/title.js';
import { ActionDialog } from './dialogs.js';

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

/** Those that revoke tokens: the session continues with a new one, or asks for a sign-in at once. */
const REVOKING = new Set([
  'POST /users/{id}/password',
  'POST /users/{id}/totp/confirm',
  'DELETE /users/{id}/totp',
]);

export function Account() {
  const description = useLoaded('users', () => loadInterface('users'));
  const user = useLoaded('me', async (signal) => {
    const { body } = await calls.read('GET /users/{id}', { parameters: { id: 'me' }, signal });
    return body.data;
  });
  const isTwoStep = user.result?.two_step;
  const [chosen, setChosen] = useState(/** @type {string | null} */ (null));
  const [secrets, setSecrets] = useState(/** @type {Record<string, string>} */ ({}));
  const actions = description.result?.actions ?? {};
  return h('section', {}, [
    h('header', { class: 'screen' }, h(Title, { title: text('account') })),
    h(Notice, { error: description.error, onRetry: description.reload }),
    h(Notice, { error: user.error, onRetry: user.reload }),
    h('p', {}, text('two_step_explained')),
    h(
      'div',
      { class: 'actions' },
      OPERATIONS.filter(
        ([operation, needed]) => operation in actions && (needed ?? isTwoStep) === isTwoStep,
      ).map(([operation]) =>
        h(
          'button',
          {
            key: operation,
            type: 'button',
            class: operation.startsWith('DELETE') ? 'danger' : undefined,
            onClick: () => setChosen(operation),
          },
          actionLabel(actions[operation]?.name ?? operation),
        ),
      ),
    ),
    Object.keys(secrets).length > 0 && h(Secrets, { secrets, onClose: () => setSecrets({}) }),
    chosen !== null &&
      description.result !== null &&
      h(ActionDialog, {
        key: chosen,
        action: { operation: chosen, endsWork: chosen.startsWith('DELETE') },
        parameters: { id: 'me' },
        description: description.result,
        etag: null,
        onStale: () => undefined,
        onClose: () => setChosen(null),
        onDone: ({ body }) => {
          setChosen(null);
          setSecrets(secretsOf(body?.data));
          user.reload();
          if (REVOKING.has(chosen)) {
            session.renew().catch(() => undefined);
          }
        },
      }),
  ]);
}

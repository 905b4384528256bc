/**
 * The account of the signed-in person: password and second factor.
 */

import { say, session } from '../core/app.js';
import { bodyOf } from '../core/draft.js';
import { loadInterface, useLoaded } from '../core/use.js';
import { actionLabel, text } from '../core/words.js';
import { useState } from '../vendor/hooks.js';
import { h } from '../vendor/preact.js';
import { Dialog } from '../components/dialog.js';
import { Form, useAction } from '../components/form.js';
import { Notice } from '../components/notice.js';
import { Secrets, secretsOf } from '../components/secrets.js';

/** What people do with their own accounts, in the order in which they need it. */
const OPERATIONS = [
  'POST /users/{id}/password',
  'POST /users/{id}/totp',
  'POST /users/{id}/totp/confirm',
  'POST /users/{id}/totp/recovery-codes',
  'DELETE /users/{id}/totp',
];

/** Those that revoke tokens: the session continues with a new one, or asks for a sign-in at once. */
const REVOKING = new Set([
  'POST /users/{id}/password',
  'POST /users/{id}/totp/confirm',
  'DELETE /users/{id}/totp',
]);

export function Account() {
  const description = useLoaded('users', () => loadInterface('users'));
  const [chosen, setChosen] = useState(/** @type {string | null} */ (null));
  const [secrets, setSecrets] = useState(/** @type {Record<string, string>} */ ({}));
  const actions = description.result?.actions ?? {};
  return h('section', {}, [
    h('header', { class: 'screen' }, h('h1', {}, text('account'))),
    h(Notice, { error: description.error, onRetry: description.reload }),
    h('p', {}, text('two_step_explained')),
    h(
      'div',
      { class: 'actions' },
      OPERATIONS.filter((operation) => operation in actions).map((operation) =>
        h(
          'button',
          { key: operation, type: 'button', onClick: () => setChosen(operation) },
          actionLabel(actions[operation]?.name ?? operation),
        ),
      ),
    ),
    Object.keys(secrets).length > 0 && h(Secrets, { secrets, onClose: () => setSecrets({}) }),
    chosen !== null &&
      h(OwnAction, {
        key: chosen,
        operation: chosen,
        fields: actions[chosen]?.body ?? [],
        label: actionLabel(actions[chosen]?.name ?? chosen),
        onClose: () => setChosen(null),
        onDone: (data) => {
          setChosen(null);
          setSecrets(secretsOf(data));
          if (REVOKING.has(chosen)) {
            session.renew().catch(() => undefined);
          }
        },
      }),
  ]);
}

/**
 * @param {object} props
 * @param {string} props.operation
 * @param {readonly import('../core/subject.js').Field[]} props.fields
 * @param {string} props.label
 * @param {() => void} props.onClose
 * @param {(data: unknown) => void} props.onDone
 */
function OwnAction({ operation, fields, label, onClose, onDone }) {
  const action = useAction();
  return h(Dialog, { title: label, onClose, isFixed: action.isBusy || action.isOpen }, [
    h(Form, {
      fields,
      start: {},
      label,
      action,
      onCancel: onClose,
      onSubmit: async (draft) => {
        const answer = await action.carryOut(operation, { id: 'me' }, bodyOf(fields, draft));
        if (answer !== null) {
          say(text('done', { action: label }));
          onDone(answer.body?.data);
        }
      },
    }),
  ]);
}

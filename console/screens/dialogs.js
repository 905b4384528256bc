/**
 * The dialogs of a resource: an action with what it asks for, and the change of its fields.
 */

import { address } from '../core/address.js';
import { permissions, say } from '../core/app.js';
import { bodyOf } from '../core/draft.js';
import { isStale } from '../core/refusal.js';
import { labelOf } from '../core/subject.js';
import { text } from '../core/words.js';
import { useEffect } from '../vendor/hooks.js';
import { h } from '../vendor/preact.js';
import { ChangeForm } from '../components/change.js';
import { Dialog } from '../components/dialog.js';
import { Form, useAction } from '../components/form.js';

/**
 * @typedef {import('../core/subject.js').Interface} Interface
 * @typedef {import('../core/subject.js').Field} Field
 * @typedef {import('../core/subject.js').Action} Action
 * @typedef {Record<string, any>} Resource
 */

/**
 * @param {object} props
 * @param {Action} props.action
 * @param {Record<string, string>} props.parameters
 * @param {Interface} props.description
 * @param {string} [props.target] name of the resource, for people
 * @param {string | null} props.etag
 * @param {() => void} props.onStale
 * @param {() => void} props.onClose
 * @param {(answer: any) => void} props.onDone
 */
export function ActionDialog({ action, parameters, description, target, etag, onStale, onClose, onDone }) {
  const write = description.actions[action.operation];
  const run = useAction();
  const mayApprove = permissions().has('approvals.grant');
  const fields = (write?.body ?? []).filter(
    ({ name }) => (action.asks?.includes(name) ?? true) && (name !== 'approve' || mayApprove),
  );
  const isStaleNow = isStale(run.error);
  useEffect(() => {
    if (isStaleNow && fields.length > 0) {
      onStale(); // what was written can be sent again
    }
  }, [run.error]);
  const close = () => {
    onClose();
    if (isStaleNow) {
      onStale();
    }
  };
  const label = labelOf(action, description);
  const title = target === undefined ? label : `${label}: ${target}`;
  return h(Dialog, { title, onClose: close, isFixed: run.isBusy || run.isOpen }, [
    action.endsWork && h('p', {}, text('confirm')),
    h(Form, {
      fields,
      start: {},
      label,
      action: run,
      onCancel: close,
      onSubmit: async (draft) => {
        const body =
          write?.body === undefined ? undefined : { ...bodyOf(fields, draft), ...action.sends };
        const here = address.value;
        const answer = await run.carryOut(action.operation, parameters, body, etag);
        if (answer !== null) {
          if (action.leads === undefined) {
            say(text('done', { action: label }));
          }
          for (const { message } of answer.body?.unapplied ?? []) {
            say(text('line_not_applied', { message }));
          }
          for (const { item_code, qty } of answer.body?.left ?? []) {
            say(text('line_left', { item_code, qty }));
          }
          if (address.value === here) {
            onDone(answer); // which may lead to another screen
          }
        }
      },
    }),
  ]);
}

/**
 * @param {object} props
 * @param {string} props.operation
 * @param {Record<string, string | number>} props.parameters
 * @param {readonly Field[]} props.fields
 * @param {Resource} props.resource
 * @param {string | null} props.etag
 * @param {string} props.label
 * @param {() => void} props.onStale
 * @param {() => void} props.onClose
 * @param {(answer: any) => void} props.onDone
 */
export function ChangeDialog({ label, onClose, ...form }) {
  const action = useAction();
  return h(
    Dialog,
    { title: label, onClose, isFixed: action.isBusy || action.isOpen },
    h(ChangeForm, { ...form, label, action, onCancel: onClose }),
  );
}

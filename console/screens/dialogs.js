/**
 * The dialogs of a resource: an action with what it asks for, and the change of its fields.
 */

import { say } from '../core/app.js';
import { bodyOf, changesOf, draftOf } from '../core/draft.js';
import { Refusal } from '../core/refusal.js';
import { actionLabel, text } from '../core/words.js';
import { useEffect, useState } from '../vendor/hooks.js';
import { h } from '../vendor/preact.js';
import { Dialog } from '../components/dialog.js';
import { Form, useAction } from '../components/form.js';
import { Parts } from '../components/parts.js';

/**
 * @typedef {import('../core/subject.js').Interface} Interface
 * @typedef {import('../core/subject.js').Field} Field
 * @typedef {import('../core/subject.js').Action} Action
 * @typedef {Record<string, any>} Resource
 */

/**
 * Return whether an action was refused because somebody else changed the resource.
 *
 * @param {unknown} error
 */
function isStale(error) {
  return error instanceof Refusal && error.code === 'stale_state';
}

/**
 * @param {object} props
 * @param {Action} props.action
 * @param {Record<string, string>} props.parameters
 * @param {Interface} props.description
 * @param {string | null} props.etag
 * @param {() => void} props.onStale
 * @param {() => void} props.onClose
 * @param {(answer: any) => void} props.onDone
 */
export function ActionDialog({ action, parameters, description, etag, onStale, onClose, onDone }) {
  const write = description.actions[action.operation];
  const run = useAction();
  const close = () => {
    onClose();
    if (isStale(run.error)) {
      onStale();
    }
  };
  const fields = write?.body ?? [];
  const label = actionLabel(write?.name ?? action.operation);
  return h(Dialog, { title: label, onClose: close, isFixed: run.isBusy || run.isOpen }, [
    action.endsWork && h('p', {}, text('confirm')),
    h(Form, {
      fields,
      start: {},
      label,
      action: run,
      onCancel: close,
      onSubmit: async (draft) => {
        const body = write?.body === undefined ? undefined : bodyOf(fields, draft);
        const answer = await run.carryOut(action.operation, parameters, body, etag);
        if (answer !== null) {
          say(text('done', { action: label }));
          onDone(answer);
        }
      },
    }),
  ]);
}

/**
 * @param {object} props
 * @param {string} props.operation
 * @param {readonly Field[]} props.fields
 * @param {Resource} props.resource
 * @param {string | null} props.etag
 * @param {() => void} props.onStale
 * @param {() => void} props.onClose
 * @param {(answer: any) => void} props.onDone
 */
export function ChangeDialog({ operation, fields, resource, etag, onStale, onClose, onDone }) {
  const run = useAction();
  useEffect(() => {
    if (isStale(run.error)) {
      onStale();
    }
  }, [run.error]);
  const [start] = useState(() => draftOf(fields, resource));
  const others = changesOf(fields, start, draftOf(fields, resource));
  return h(Dialog, { title: text('change'), onClose, isFixed: run.isBusy || run.isOpen }, [
    Object.keys(others).length > 0 &&
      h('div', { class: 'notice' }, [
        h('p', {}, text('changed_by_others')),
        h(Parts, { fields: fields.filter(({ name }) => name in others), values: resource }),
      ]),
    h(Form, {
      fields,
      start,
      label: text('save'),
      action: run,
      onCancel: onClose,
      onSubmit: async (draft) => {
        const changes = changesOf(fields, start, draft);
        const answer = await run.carryOut(operation, { id: resource.id }, changes, etag);
        if (answer !== null) {
          say(text('done', { action: text('change') }));
          onDone(answer);
        }
      },
    }),
  ]);
}

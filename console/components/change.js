/**
 * The form that changes a resource. What others change meanwhile is shown and not overwritten.
 */

import { say } from '../core/app.js';
import { changesOf, draftOf } from '../core/draft.js';
import { isStale } from '../core/refusal.js';
import { text } from '../core/words.js';
import { useEffect, useState } from '../vendor/hooks.js';
import { h } from '../vendor/preact.js';
import { Form } from './form.js';
import { Parts } from './parts.js';

/**
 * @param {object} props
 * @param {string} props.operation takes the fields that change
 * @param {Record<string, string | number>} [props.parameters]
 * @param {readonly import('../core/subject.js').Field[]} props.fields
 * @param {Record<string, any>} props.resource
 * @param {string | null} props.etag of this resource
 * @param {string} props.label of the action, in the message that it is done
 * @param {ReturnType<typeof import('../core/act.js').useAction>} props.action
 * @param {Readonly<Record<string, readonly string[]>>} [props.groups] see `Form`
 * @param {() => void} props.onStale reads the resource again
 * @param {() => void} props.onCancel
 * @param {(answer: any) => void} props.onDone
 */
export function ChangeForm({
  operation,
  parameters = {},
  fields,
  resource,
  etag,
  label,
  action,
  groups,
  onStale,
  onCancel,
  onDone,
}) {
  const [start, setStart] = useState(() => draftOf(fields, resource));
  const [isConflict, setConflict] = useState(false);
  useEffect(() => {
    if (isStale(action.error)) {
      setConflict(true);
      onStale();
    }
  }, [action.error]);
  const others = isConflict ? changesOf(fields, start, draftOf(fields, resource)) : {};
  return [
    Object.keys(others).length > 0 &&
      h('div', { class: 'notice' }, [
        h('p', {}, text('changed_by_others')),
        h(Parts, { fields: fields.filter(({ name }) => name in others), values: resource }),
      ]),
    h(Form, {
      key: JSON.stringify(start),
      fields,
      start,
      label: text('save'),
      action,
      groups,
      onCancel,
      onSubmit: async (draft) => {
        const answer = await action.carryOut(operation, parameters, changesOf(fields, start, draft, draftOf(fields, resource)), etag);
        if (answer !== null) {
          say(text('done', { action: label }));
          setConflict(false);
          setStart(draftOf(fields, answer.body?.data ?? resource));
          onDone(answer);
        }
      },
    }),
  ];
}

/**
 * The actions that the state of a resource allows, and the dialog of the one that is chosen.
 */

import { permissions } from '../core/app.js';
import { go, href } from '../core/address.js';
import { labelOf, mainAction } from '../core/actions.js';
import { itemPath, listAddress, mayCarryOut } from '../core/subject.js';
import { text } from '../core/words.js';
import { useEffect, useRef, useState } from '../vendor/hooks.js';
import { h } from '../vendor/preact.js';
import { Lazy } from './lazy.js';
import { Secrets, secretsOf } from './secrets.js';

/**
 * @typedef {import('../core/subject.js').Subject} Subject
 * @typedef {import('../core/actions.js').Action} Action
 * @typedef {import('../core/actions.js').Resource} Resource
 *
 * @typedef {object} Chosen
 * @property {Action} action
 * @property {Resource} values with which its form begins
 */

/** Load the dialogs when one is opened: most visits need none. */
const loadDialogs = () => import('../screens/dialogs.js');

/**
 * @param {object} props
 * @param {Subject} props.subject
 * @param {Record<string, string>} props.parameters
 * @param {import('../core/subject.js').Interface} props.description
 * @param {Resource} props.resource
 * @param {string} props.title
 * @param {string | null} props.etag
 * @param {() => void} props.onChange
 * @param {readonly Action[]} props.actions
 * @param {(action: Action) => readonly Resource[]} props.linesOf
 * @param {Chosen | null} props.chosen
 * @param {(chosen: Chosen | null) => void} props.onChoose
 * @param {boolean} props.isBusy an action is under way, or the resource is as before the last one
 * @param {() => void} props.onActed
 * @param {import('../core/description.js').Made} props.made
 */
export function Actions({ subject, description, resource, actions, chosen, onChoose, ...props }) {
  const { parameters, title, etag, onChange, linesOf, isBusy, onActed, made } = props;
  const [isChanging, setChanging] = useState(false);
  const [secrets, setSecrets] = useState(/** @type {Record<string, string>} */ ({}));
  const hasActed = useRef(false);
  useEffect(() => {
    if (hasActed.current && document.activeElement === document.body) {
      // the button that had the focus is gone with the state that allowed it
      document.querySelector('h1')?.focus({ preventScroll: true });
    }
    hasActed.current = false;
  }, [resource]);
  const main = mainAction(actions, resource, made);
  const change = subject.change === undefined ? undefined : description.actions[subject.change];
  /** @param {any} answer */
  const finish = (answer) => {
    hasActed.current = true;
    onActed();
    onChoose(null);
    setChanging(false);
    setSecrets(secretsOf(answer.body?.data));
    onChange();
  };
  /**
   * An action at another subject, such as a receipt for a document, is a form of that subject,
   * unless it needs none.
   *
   * @param {Action} action
   */
  const choose = (action) => {
    const { field = 'document_id', atOnce } = action;
    if (pathOf(action).includes('{')) {
      onChoose({ action, values: action.values?.(resource) ?? {} });
    } else if (atOnce) {
      onChoose({ action, values: { [field]: resource.id } });
    } else {
      go(href([pathOf(action).slice(1), 'new'], { [field]: resource.id }));
    }
  };
  /**
   * @param {Action} action
   * @param {any} answer
   */
  const leave = (action, answer) => {
    const id = answer.body?.data?.id;
    if (action.operation === `DELETE ${itemPath(subject)}`) {
      go(href(listAddress(subject, parameters)), { replace: true });
    } else if (action.leads !== undefined) {
      const isPart = subject.parts?.includes(action.leads);
      go(href([...(isPart ? [subject.name, resource.id] : []), action.leads, id]));
    } else if (!pathOf(action).includes('{')) {
      go(href([pathOf(action).slice(1), id]));
    } else {
      finish(answer);
    }
  };
  return h('div', { class: 'actions' }, [
    mayCarryOut(change, permissions()) &&
      resource.status !== 'closed' &&
      h('button', { type: 'button', onClick: () => setChanging(true) }, text('change')),
    ...actions.map((action) =>
      h(
        'button',
        {
          key: labelOf(action, description),
          type: 'button',
          disabled: isBusy,
          class: action.endsWork ? 'danger' : action === main ? 'main' : undefined,
          onClick: () => choose(action),
        },
        labelOf(action, description),
      ),
    ),
    Object.keys(secrets).length > 0 && h(Secrets, { secrets, onClose: () => setSecrets({}) }),
    chosen !== null &&
      h(Lazy, {
        key: chosen.action.operation,
        load: loadDialogs,
        name: 'ActionDialog',
        props: {
          ...chosen,
          parameters,
          description,
          resource,
          lines: linesOf(chosen.action),
          target: title,
          etag,
          onStale: onChange,
          onClose: () => onChoose(null),
          onDone: (/** @type {any} */ answer) => leave(chosen.action, answer),
        },
      }),
    isChanging &&
      h(Lazy, {
        load: loadDialogs,
        name: 'ChangeDialog',
        props: {
          operation: subject.change ?? '',
          parameters,
          label: text('change'),
          fields: change?.body ?? [],
          resource: { ...resource, ...subject.formValues?.(resource) },
          etag,
          onStale: onChange,
          onClose: () => setChanging(false),
          onDone: finish,
        },
      }),
  ]);
}

/** @param {Action} action */
function pathOf({ operation }) {
  return operation.split(' ')[1] ?? '';
}

/**
 * A form that carries an action out: its fields, its problems, and one key for all attempts.
 */

import { mayLeave, useQuestion } from '../core/leaving.js';
import { readable } from '../core/links.js';
import { Refusal } from '../core/refusal.js';
import { text } from '../core/words.js';
import { useEffect, useRef, useState } from '../vendor/hooks.js';
import { h } from '../vendor/preact.js';
import { Fields } from './fields.js';
import { inputOf } from './inputs.js';
import { isOfGoods, onEnter } from './keys.js';
import { Notice } from './notice.js';

/** @typedef {import('./fields.js').Draft} Draft */

/**
 * @param {object} props
 * @param {readonly import('../core/subject.js').Field[]} props.fields
 * @param {Draft} props.start what the form shows at first
 * @param {string} props.label of the button
 * @param {ReturnType<typeof import('../core/act.js').useAction>} props.action
 * @param {(draft: Draft) => void} props.onSubmit
 * @param {() => void} props.onCancel
 * @param {(row: Draft, draft: Draft) => any} [props.noteOf] returns what is shown below each row
 * @param {(draft: Draft) => void} [props.onWrite] is called with each change
 * @param {Readonly<Record<string, readonly string[]>>} [props.groups] key of words → fields below it
 * @param {Record<string, any>} [props.resource] that the form is about
 */
export function Form({ fields, start, label, action, onSubmit, onCancel, noteOf, onWrite, groups = {}, resource }) {
  const [draft, setDraft] = useState(start);
  const [first] = useState(() => contentOf(start));
  const { error, isBusy, isOpen } = action;
  useQuestion(!isBusy && contentOf(draft) !== first);
  const problems = error instanceof Refusal ? error.problems : [];
  const inputs = inOrder(readable(fields));
  const grouped = new Set(Object.values(groups).flat());
  /** @param {(name: string) => boolean} isShown */
  const inputsOf = (isShown) =>
    h(Fields, {
      fields: inputs.filter(({ name }) => isShown(name)),
      draft,
      onChange: (changed) => {
        setDraft(changed);
        onWrite?.(changed);
      },
      problems,
      resource,
      inputOf,
      noteOf: noteOf && ((/** @type {Draft} */ row) => noteOf(row, draft)),
    });
  const form = useRef(/** @type {HTMLFormElement | null} */ (null));
  useEffect(() => {
    if (error && form.current) {
      showProblem(form.current);
    }
  }, [error]);
  return h(
    'form',
    {
      ref: form,
      noValidate: true,
      onKeyDown: (/** @type {KeyboardEvent} */ event) => onEnter(event, isOfGoods(fields)),
      onSubmit: (/** @type {Event} */ event) => {
        event.preventDefault();
        const unfinished = form.current && unfinishedInput(form.current);
        if (unfinished) {
          unfinished.reportValidity();
        } else {
          onSubmit(draft);
        }
      },
    },
    [
      h(Notice, { error, isWrite: true, shownFields: shownPaths(inputs, draft) }),
      h('fieldset', { class: 'bare', disabled: isBusy || isOpen }, [
        inputsOf((name) => !grouped.has(name)),
        ...Object.entries(groups).map(([key, names]) =>
          h('fieldset', { key }, [
            h('legend', {}, text(/** @type {'group_setup'} */ (key))),
            inputsOf((name) => names.includes(name)),
          ]),
        ),
      ]),
      h('footer', {}, [
        h('button', { type: 'button', disabled: isBusy, onClick: () => mayLeave() && onCancel() }, text('cancel')),
        h('button', { class: 'main', disabled: isBusy }, isOpen ? text('try_again') : label),
      ]),
    ],
  );
}

/**
 * Return what a person wrote, to compare it: an input that was emptied has no content.
 *
 * @param {Draft} draft
 */
function contentOf(draft) {
  return JSON.stringify(draft, (_, entry) => (entry === '' ? undefined : entry));
}

/**
 * Move to the first field with a problem, or to the notice if it says more than the fields.
 *
 * @param {HTMLFormElement} form
 */
function showProblem(form) {
  const field = form.querySelector('[aria-invalid="true"], .problem');
  const shown = form.querySelector('.notice li') ? null : field;
  const target = /** @type {HTMLElement | null} */ (shown ?? form.querySelector('.notice'));
  target?.scrollIntoView({ block: 'nearest' });
  target?.focus({ preventScroll: true });
}

/**
 * Return the first input whose text is no value, such as a date without a year or an order that there
 * is not: it would be sent as empty.
 *
 * @param {HTMLFormElement} form
 */
function unfinishedInput(form) {
  return [...form.querySelectorAll('input')].find(({ validity }) => validity.badInput || validity.customError);
}

/**
 * Return fields with those first that a person must fill in, except for lists, which are long.
 *
 * @param {readonly import('../core/subject.js').Field[]} fields
 */
function inOrder(fields) {
  const isFirst = (/** @type {import('../core/subject.js').Field} */ { isRequired, type }) =>
    isRequired === true && type !== 'array';
  return [...fields.filter(isFirst), ...fields.filter((field) => !isFirst(field))];
}

/**
 * Return the paths whose problems stand at their inputs.
 *
 * @param {readonly import('../core/subject.js').Field[]} fields
 * @param {Draft} draft
 * @param {string} [path]
 * @returns {string[]}
 */
function shownPaths(fields, draft, path = '') {
  return fields.flatMap((field) => {
    const own = path + field.name;
    const entry = draft[field.name];
    if (field.type === 'object') {
      return shownPaths(field.fields ?? [], /** @type {Draft} */ (entry ?? {}), `${own}.`);
    }
    if (field.type === 'array' && field.items?.type === 'object' && Array.isArray(entry)) {
      const rows = /** @type {Draft[]} */ (entry);
      const inside = rows.flatMap((row, index) =>
        shownPaths(field.items?.fields ?? [], row, `${own}.${index}.`),
      );
      return [own, ...inside];
    }
    return [own];
  });
}

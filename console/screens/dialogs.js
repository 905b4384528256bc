/**
 * The dialogs of a resource: an action with what it asks for, and the change of its fields.
 */

import { useAction } from '../core/act.js';
import { address } from '../core/address.js';
import { permissions, say } from '../core/app.js';
import { bodyOf, draftOf } from '../core/draft.js';
import { mayLeave } from '../core/leaving.js';
import { isStale } from '../core/refusal.js';
import { excessOf, isAtOnce, labelOf, startsAt } from '../core/actions.js';
import { text, valueLabel } from '../core/words.js';
import { useEffect, useState } from '../vendor/hooks.js';
import { h } from '../vendor/preact.js';
import { usePlaces, withPlaces } from '../components/putaway.js';
import { ChangeForm } from '../components/change.js';
import { Dialog } from '../components/dialog.js';
import { Form } from '../components/form.js';
import { plain } from '../components/value.js';

/**
 * @typedef {import('../core/subject.js').Interface} Interface
 * @typedef {import('../core/subject.js').Field} Field
 * @typedef {import('../core/actions.js').Action} Action
 * @typedef {import('../core/actions.js').Resource} Resource
 */

/** What an action says before it ends something, by the last part of its path. */
const CONSEQUENCES = /** @type {const} */ ({
  cancel: 'confirm_cancel',
  close: 'confirm_close',
  revert: 'confirm_revert',
  delete: 'confirm_delete',
});

/** What becomes of the goods that an action leaves, by the last part of its path. */
const LOSSES = /** @type {const} */ ({
  close: 'loses_open',
  complete: 'loses_unpacked',
  dispatch: 'loses_unpicked',
  finalize: 'loses_missing',
  'finish-picking': 'loses_missing',
  post: 'posts_differences',
});

/**
 * An action with what it asks for. One that needs no dialog shows it only if it was refused.
 *
 * @param {object} props
 * @param {Action} props.action
 * @param {Resource} [props.values] with which its form begins
 * @param {Record<string, string>} props.parameters
 * @param {Interface} props.description
 * @param {Resource} [props.resource]
 * @param {readonly Resource[]} [props.lines] of which it may take some
 * @param {string} [props.target] name of the resource, for people
 * @param {string | null} props.etag
 * @param {() => void} props.onStale
 * @param {() => void} props.onClose
 * @param {(answer: any) => void} props.onDone
 */
export function ActionDialog({ action, values = {}, resource = {}, lines = [], ...props }) {
  const { parameters, description, target, etag, onStale, onClose, onDone } = props;
  const write = description.actions[action.operation];
  const run = useAction();
  const mayApprove = permissions().has('approvals.grant');
  const isOfLine = values.item_code !== undefined; // which its title names
  const fields = (write?.body ?? []).filter(
    ({ name }) =>
      (action.asks?.includes(name) ?? true) &&
      (name !== 'approve' || mayApprove) &&
      !(isOfLine && KNOWN_AT_LINE.has(name)),
  );
  const [isShown, setShown] = useState(!isAtOnce(action, resource));
  const [asked, setAsked] = useState(0); // how much more than is open the person was told
  const isStaleNow = isStale(run.error);
  useEffect(() => {
    if (run.error) {
      setShown(true);
    }
    if (isStaleNow && fields.length > 0) {
      onStale(); // what was written can be sent again
    }
  }, [run.error]);
  const close = () => {
    if (!mayLeave()) {
      return false;
    }
    onClose();
    if (isStaleNow) {
      onStale();
    }
    return true;
  };
  const label = labelOf(action, description);
  const about = [target, values.item_code].filter((one) => one !== undefined).join(' · ');
  const title = about === '' ? label : `${label}: ${about}`;
  const start = draftOf(write?.body ?? [], values);
  const goods = values.lines?.length === 1 ? values.lines[0] : values;
  const putsInto = action.putsAway?.(resource, values);
  const places = usePlaces(putsInto, goods);
  const warehouse = putsInto ?? lines[0]?.whs_code ?? resource.whs_code ?? resource.from?.whs_code;
  /** @param {import('../components/fields.js').Draft} draft */
  const send = async (draft) => {
    const body = write?.body === undefined ? undefined : { ...bodyOf(write.body, draft), ...action.sends };
    const excess = action.asksAbove && body ? excessOf(action, lines, body) : 0;
    if (excess > asked) {
      setAsked(excess);
      return;
    }
    const here = address.value;
    let ifMatch = action.operation.includes('{') && !action.isShared ? etag : null;
    const bodies = action.each
      ? startsAt(action, lines).map(({ values }) => bodyOf(write?.body ?? [], draftOf(write?.body ?? [], values)))
      : [body];
    let answer = null;
    for (const one of bodies) {
      answer = await run.carryOut(action.operation, parameters, one, ifMatch);
      if (answer === null) {
        return;
      }
      ifMatch = answer.etag;
    }
    const made = answer.body?.data;
    let last = made;
    for (const operation of action.then ?? []) {
      // if it fails, the screen of what was made offers it
      last = (await run.carryOut(operation, { id: made.id }))?.body?.data ?? last;
    }
    if (action.leads === undefined) {
      const status = last?.status && valueLabel(last.status);
      say(status ? text('done_status', { action: label, status }) : text('done', { action: label }));
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
  };
  useEffect(() => {
    if (!isShown) {
      send(start);
    }
  }, []);
  if (!isShown) {
    return null;
  }
  return h(Dialog, { title, onClose: close, isFixed: run.isBusy || run.isOpen }, [
    action.endsWork && h('p', {}, text(wordsOf(CONSEQUENCES, action) ?? 'confirm')),
    h(Losses, { action, losses: action.loses?.(resource) ?? [] }),
    asked > 0 &&
      !run.isBusy &&
      !run.error &&
      h('p', { class: 'notice', role: 'alert' }, text('more_than_open', { qty: plain(QTY, asked) })),
    h(Form, {
      fields: withPlaces(fields, places),
      start,
      label,
      action: run,
      resource: { ...resource, whs_code: warehouse },
      onCancel: close,
      onSubmit: send,
    }),
  ]);
}

/** Fields of the goods of a line, and other ways to name and count them. */
const KNOWN_AT_LINE = new Set(['item_code', 'gtin', 'unit']);

const QTY = /** @type {const} */ ({ name: 'qty', type: 'number' });

/**
 * The goods that an action gives up.
 *
 * @param {object} props
 * @param {Action} props.action
 * @param {readonly import('../core/actions.js').Loss[]} props.losses
 */
function Losses({ action, losses }) {
  const words = wordsOf(LOSSES, action);
  if (losses.length === 0 || words === undefined) {
    return null;
  }
  return h('div', { class: 'notice danger' }, [
    h('p', {}, text(words)),
    h(
      'ul',
      {},
      losses.map(({ item_code: code, qty }, at) => h('li', { key: at }, `${code}: ${plain(QTY, qty)}`)),
    ),
  ]);
}

/**
 * @template {string} Key
 * @param {Readonly<Record<string, Key>>} table
 * @param {Action} action
 * @returns {Key | undefined}
 */
function wordsOf(table, { operation }) {
  const [method = '', path = ''] = operation.split(' ');
  return table[method === 'DELETE' ? 'delete' : (path.split('/').at(-1) ?? '')];
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
  const close = () => mayLeave() && (onClose(), true);
  return h(
    Dialog,
    { title: label, onClose: close, isFixed: action.isBusy || action.isOpen },
    h(ChangeForm, { ...form, label, action, onCancel: onClose }),
  );
}

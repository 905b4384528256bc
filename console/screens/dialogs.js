/**
 * The dialogs of a resource: an action with what it asks for, and the change of its fields.
 */

import { useAction } from '../core/act.js';
import { address } from '../core/address.js';
import { calls, permissions, say } from '../core/app.js';
import { consequenceOf, lossOf } from '../core/consequences.js';
import { inBaseUnits } from '../core/base_units.js';
import { bodyOf, draftOf } from '../core/draft.js';
import { inTurn } from '../core/in_turn.js';
import { mayLeave } from '../core/leaving.js';
import { isStale } from '../core/refusal.js';
import { excessOf, isAtOnce, labelOf, startsAt } from '../core/actions.js';
import { text, valueLabel } from '../core/words.js';
import { useEffect, useRef, useState } from '../vendor/hooks.js';
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
  const turn = useRef(/** @type {ReturnType<typeof inTurn> | null} */ (null)); // of an action for each line
  const hasBegun = useRef(false); // some of it is carried out
  const isStaleNow = isStale(run.error);
  useEffect(() => {
    if (run.error) {
      setShown(true);
    }
    if (run.error && !run.isOpen) {
      turn.current = null; // sent again, it takes the lines that are left then
    }
    if (isStaleNow || (run.error && !run.isOpen && hasBegun.current)) {
      onStale(); // what was written can be sent again
    }
  }, [run.error]);
  const close = () => {
    if (!mayLeave()) {
      return false;
    }
    onClose();
    if (hasBegun.current) {
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
  const places = usePlaces(action, resource, values, goods);
  const warehouse = putsInto ?? lines[0]?.whs_code ?? resource.whs_code ?? resource.from?.whs_code;
  const isCounting = useRef(false);
  /** @param {Resource} body */
  const counted = async (body) => {
    if (!body.gtin && !body.unit) {
      return body;
    }
    isCounting.current = true;
    try {
      return await inBaseUnits(calls, body);
    } catch {
      return body; // the service judges it
    } finally {
      isCounting.current = false;
    }
  };
  /** @param {import('../components/fields.js').Draft} draft */
  const send = async (draft) => {
    if (isCounting.current) {
      return;
    }
    const body = write?.body === undefined ? undefined : { ...bodyOf(write.body, draft), ...action.sends };
    const excess = action.asksAbove && body ? excessOf(action, lines, await counted(body)) : 0;
    if (excess > asked) {
      setAsked(excess);
      return;
    }
    const here = address.value;
    const ifMatch = action.operation.includes('{') && !action.isShared ? etag : null;
    if (!action.each) {
      turn.current = inTurn([body], ifMatch);
    } else if (turn.current === null) {
      const left = startsAt(action, lines);
      if (left.length === 0) {
        say(text('nothing_left')); // somebody else has done it
        close();
        return;
      }
      turn.current = inTurn(left.map(({ values }) => bodyOf(write?.body ?? [], draftOf(write?.body ?? [], values))), ifMatch);
    }
    const answer = await turn.current(async (one, last) => {
      const done = await run.carryOut(action.operation, parameters, one, last);
      hasBegun.current ||= done !== null;
      return done;
    });
    if (answer === null) {
      return;
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
    remarksOf(answer.body ?? {}).forEach(say);
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
  const consequence = consequenceOf(action);
  return h(Dialog, { title, onClose: close, isFixed: run.isBusy || run.isOpen }, [
    consequence && h('p', {}, text(consequence)),
    h(Losses, { action, losses: action.loses?.(resource) ?? [] }),
    values.others > 0 && h('p', { class: 'notice' }, text('others_left', { count: values.others })),
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

/**
 * Return what an answer says beside the resource: lines that were not carried out, and goods that are left.
 *
 * @param {{unapplied?: {message: string}[], left?: {item_code: string, qty: number}[]}} body
 * @returns {string[]}
 */
export function remarksOf({ unapplied = [], left = [] }) {
  return [
    ...unapplied.map(({ message }) => text('line_not_applied', { message })),
    ...left.map(({ item_code, qty }) => text('line_left', { item_code, qty: plain(QTY, qty) })),
  ];
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
  const words = lossOf(action);
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

/**
 * What is done with the chosen rows of a list: for one after the other, or for all of them together.
 */

import { useAction } from '../core/act.js';
import { actionsForMany, labelOf } from '../core/actions.js';
import { address, go, href } from '../core/address.js';
import { calls, permissions, say } from '../core/app.js';
import { bodyOf, draftOf } from '../core/draft.js';
import { endOf, Requests, unfitting } from '../core/many.js';
import { Refusal } from '../core/refusal.js';
import { mayCarryOut } from '../core/subject.js';
import { loadInterface, useLoaded } from '../core/use.js';
import { usualWarehouse } from '../core/usual.js';
import { actionLabel, text, valueLabel } from '../core/words.js';
import { useEffect, useRef, useState } from '../vendor/hooks.js';
import { h } from '../vendor/preact.js';
import { Panel as Files } from '../screens/panels/files.js';
import { Dialog } from './dialog.js';
import { Form } from './form.js';
import { errorText, Notice } from './notice.js';

/**
 * @typedef {import('../core/description.js').Action} Action
 * @typedef {import('../core/description.js').Resource} Resource
 * @typedef {import('../core/description.js').Together} Together
 * @typedef {import('../core/many.js').Result} Result
 * @typedef {import('../core/subject.js').Interface} Interface
 */

/**
 * @param {object} props
 * @param {import('../core/subject.js').Subject} props.subject
 * @param {Interface} props.description
 * @param {readonly Resource[]} props.rows that are chosen
 * @param {(row: Resource) => string} props.nameOf
 * @param {(rows: readonly Resource[]) => void} props.onDone is called with the rows that are done
 */
export function Many({ subject, description, rows, nameOf, onDone }) {
  const requests = useRef(/** @type {Requests | null} */ (null));
  requests.current ??= new Requests();
  const made = useRef(/** @type {Map<unknown, unknown>} */ (new Map())).current; // is made once
  const isGone = useRef(false);
  useEffect(() => () => void (isGone.current = true), []);
  const [running, setRunning] = useState(/** @type {{label: string, count: number, total: number} | null} */ (null));
  const [results, setResults] = useState(/** @type {readonly Result[]} */ ([]));
  const [asked, setAsked] = useState(/** @type {Together | null} */ (null));
  /**
   * @param {readonly Resource[]} about
   * @param {string} label
   * @param {string} operation
   * @param {(row: Resource) => {parameters?: Record<string, any>, body?: object}} contentOf
   */
  const send = async (about, label, operation, contentOf) => {
    const write = /** @type {'POST /receipts'} */ (operation);
    const found = await /** @type {Requests} */ (requests.current).send(
      about,
      operation,
      (row, key) => calls.write(write, { key, .../** @type {any} */ (contentOf(row)) }),
      (count) => setRunning({ label, count, total: about.length }),
    );
    setRunning(null);
    setResults(found);
    if (isGone.current) {
      say(`${label}: ${text('results', countsOf(found))}`);
    }
    return found;
  };
  /** @param {Action} action */
  const carryOut = async (action) => {
    const { operation, sends } = action;
    const found = await send(rows, labelOf(action, description), operation, ({ id }) => ({
      parameters: { id },
      ...(sends && { body: sends }),
    }));
    onDone(found.flatMap((one) => ('made' in one ? one.row : [])));
  };
  const together = (subject.together ?? []).filter(({ operation }) =>
    mayCarryOut(description.actions[operation], permissions()),
  );
  const isIdle = running === null && rows.length > 0;
  return h('section', { class: 'many', 'aria-label': text('chosen', { count: rows.length }) }, [
    h('p', { role: 'status' }, running === null ? text('chosen', { count: rows.length }) : text('progress_of', running)),
    h('div', { class: 'actions' }, [
      ...together.map((one) =>
        h('button', { key: one.label, type: 'button', disabled: !isIdle, onClick: () => setAsked(one) }, actionLabel(one.label)),
      ),
      ...actionsForMany(subject, description, permissions()).map((action) =>
        h(
          'button',
          { key: action.operation, type: 'button', disabled: !isIdle, onClick: () => carryOut(action) },
          labelOf(action, description),
        ),
      ),
    ]),
    subject.files && rows.length > 0 && h(Files, { files: subject.files, each: rows.map(({ id }) => ({ id: String(id) })) }),
    results.length > 0 && h(Results, { results, nameOf }),
    asked !== null &&
      h(TogetherDialog, {
        key: asked.label,
        write: asked,
        rows,
        nameOf,
        made,
        send,
        onClose: () => setAsked(null),
        onDone: (done) => {
          setAsked(null);
          onDone(done);
        },
      }),
  ]);
}

/**
 * @param {object} props
 * @param {readonly Result[]} props.results
 * @param {(row: Resource) => string} props.nameOf
 */
function Results({ results, nameOf }) {
  const counts = countsOf(results);
  return h('div', { class: counts.refused > 0 ? 'notice' : undefined }, [
    h('p', { role: 'status' }, text('results', counts)),
    h(
      'ul',
      {},
      results.map((one) =>
        h('li', { key: one.row.id, class: 'error' in one ? 'problem' : undefined }, [
          `${nameOf(one.row)}: ${'error' in one ? errorText(one.error) : wordsOf(one.made)}`,
        ]),
      ),
    ),
  ]);
}

/** @param {readonly Result[]} results */
function countsOf(results) {
  const refused = results.filter((one) => 'error' in one).length;
  return { done: results.length - refused, refused };
}

/** @param {Resource} made */
function wordsOf({ code, status }) {
  return [code, status && valueLabel(status)].filter(Boolean).join(' · ') || text('yes');
}

/**
 * A write about all chosen rows, with what it asks for. One that asks nothing is sent at once, and
 * shown only if it was refused.
 *
 * @param {object} props
 * @param {Together} props.write
 * @param {readonly Resource[]} props.rows
 * @param {(row: Resource) => string} props.nameOf
 * @param {Map<unknown, unknown>} props.made id of a row → id of what the first write made of it
 * @param {(about: readonly Resource[], label: string, operation: string,
 *   contentOf: (row: Resource) => {body: object}) => Promise<readonly Result[]>} props.send
 * @param {() => void} props.onClose
 * @param {(done: readonly Resource[]) => void} props.onDone
 */
function TogetherDialog({ write, rows, nameOf, made, send, onClose, onDone }) {
  const { operation, field, first, asks, values, sends, then = [] } = write;
  const owner = operation.split('/')[1] ?? '';
  const action = useAction();
  const label = actionLabel(write.label);
  const [isSending, setSending] = useState(false);
  const [ended, setEnded] = useState(/** @type {unknown} */ (null)); // why not all of them are made
  const loaded = useLoaded(`${owner} together`, async (signal) => {
    const { actions } = await loadInterface(owner);
    if (first !== undefined) {
      // nothing is made for what the company does not have
      await calls.read(/** @type {'GET /waves'} */ (`GET /${owner}`), { query: { per_page: 1 }, signal });
    }
    const given = { warehouse_code: asks && (await usualWarehouse(signal)), ...values?.(rows) };
    return { body: actions[operation]?.body ?? [], given };
  });
  const { body = [], given = {} } = loaded.result ?? {};
  /** @param {import('./fields.js').Draft} draft */
  const submit = async (draft) => {
    const here = address.value;
    const asked = bodyOf(body, draft);
    const others = unfitting(write, rows, asked);
    setEnded(others.length > 0 ? otherWarehouses(others.map(nameOf)) : null);
    if (others.length > 0) {
      return;
    }
    setSending(true);
    if (first !== undefined) {
      const found = await send(
        rows.filter(({ id }) => !made.has(id)),
        label,
        first.operation,
        ({ id }) => ({ body: { [first.field]: id, ...first.sends } }),
      );
      for (const one of found) {
        if ('made' in one) {
          made.set(one.row.id, one.made.id);
        }
      }
      const error = endOf(found);
      if (error !== undefined) {
        setEnded(error);
        setSending(false);
        return;
      }
    }
    const done = rows.filter(({ id }) => first === undefined || made.has(id));
    if (done.length === 0) {
      onClose(); // the results say why
      return;
    }
    const ids = done.map(({ id }) => made.get(id) ?? id);
    const answer = await action.carryOut(operation, {}, { ...asked, ...sends, [field]: ids });
    setSending(false);
    if (answer === null) {
      return;
    }
    done.forEach((row) => made.delete(row.id));
    const { id, code } = answer.body.data;
    for (const next of then) {
      await action.carryOut(next, { id }); // if it fails, the screen of what was made offers it
    }
    say(text('done', { action: [label, code].filter(Boolean).join(' ') }));
    onDone(done);
    if (address.value === here && done.length === rows.length) {
      go(href([owner, id]));
    }
  };
  const isReady = loaded.result !== null;
  const error = loaded.error ?? ended ?? action.error;
  useEffect(() => {
    if (isReady && asks === undefined) {
      submit(draftOf(body, given));
    }
  }, [isReady]);
  if (!error && (!isReady || asks === undefined)) {
    return null;
  }
  if (!isReady) {
    return h(Dialog, { title: label, onClose }, h(Notice, { error, onRetry: loaded.reload }));
  }
  return h(Dialog, { title: label, onClose, isFixed: isSending || action.isBusy || action.isOpen }, [
    h(Form, {
      fields: body.filter(({ name }) => asks?.includes(name)),
      start: draftOf(body, given),
      label,
      action: { ...action, error, isBusy: action.isBusy || isSending },
      onCancel: onClose,
      onSubmit: submit,
    }),
  ]);
}

/**
 * @param {readonly string[]} names of rows
 * @returns {Refusal} as the service would refuse them
 */
function otherWarehouses(names) {
  const message = text('other_warehouse', { names: names.join(', ') });
  return new Refusal(422, 'validation_failed', message, { problems: [{ field: 'warehouse_code', message }] });
}

/**
 * What the person has asked for and may do now: granted requests, each with a button that sends the
 * same request again.
 */

import { calls, say, session } from '../core/app.js';
import { useAction } from '../core/act.js';
import { href } from '../core/address.js';
import { forgetDrafts } from '../core/kept.js';
import { isNotOffered } from '../core/refusal.js';
import { operationOf, parametersOf } from '../core/request.js';
import { loadInterface, useLoaded, useRefresh } from '../core/use.js';
import { actionLabel, text } from '../core/words.js';
import { h } from '../vendor/preact.js';
import { Notice } from './notice.js';

/** @typedef {Record<string, any>} Approval */

/** Milliseconds after which it is asked again whether something was granted. */
const PAUSE = 60_000;

/**
 * The granted requests of the person; nothing if there are none.
 *
 * @param {object} props
 * @param {{object: string, id: number}} [props.about] only those that would change this resource
 * @param {() => void} [props.onDone]
 */
export function Granted({ about, onDone }) {
  const { result, reload, refresh } = useLoaded('granted', async (signal) => {
    try {
      const query = { status: 'granted', per_page: 100 }; // within a day, more are hardly left
      return (await calls.read('GET /approvals', { query, signal })).body.data;
    } catch (error) {
      if (isNotOffered(error)) {
        return [];
      }
      throw error;
    }
  });
  useRefresh(refresh, PAUSE);
  const rows = /** @type {readonly Approval[]} */ (result ?? []);
  /** @param {Approval} approval */
  const concerns = ({ resource }) =>
    about === undefined || (resource.object === about.object && resource.id === about.id);
  return h(
    'div',
    {},
    rows
      .filter((one) => isOwn(one) && concerns(one))
      .map((approval) =>
        h('div', { key: approval.id, class: 'notice', role: 'status' }, [
          h('p', {}, [
            `${text('approval_granted')} ${approval.message} `,
            h('a', { href: href(['approvals', approval.id]) }, text('see_approval')),
          ]),
          h(CarryOut, {
            approval,
            onDone: () => {
              reload();
              onDone?.();
            },
          }),
        ]),
      ),
  );
}

/** @param {Approval} approval */
function isOwn({ requested_by: { user_id: user } }) {
  return user !== null && String(user) === session.user.value?.userId;
}

/**
 * The button that carries a granted request of the person out; nothing for others, and for a request
 * whose body is too long to be shown.
 *
 * @param {object} props
 * @param {Approval} props.approval
 * @param {() => void} props.onDone
 */
export function CarryOut({ approval, onDone }) {
  const { request } = approval;
  const own = request.path.split('/')[1] ?? '';
  const { result } = useLoaded(own, () => loadInterface(own));
  const run = useAction();
  const operation = operationOf(Object.keys(result?.actions ?? {}), request);
  const write = operation === undefined ? undefined : result?.actions[operation];
  const isWhole = request.body !== null || (write?.body ?? []).length === 0;
  if (operation === undefined || write === undefined || !isWhole || !isOwn(approval)) {
    return null;
  }
  const label = actionLabel(write.name);
  const carryOut = async () => {
    const body = request.body ?? undefined;
    if ((await run.carryOut(operation, parametersOf(operation, request.path), body)) === null) {
      return;
    }
    forgetDrafts(sessionStorage, `${session.owner} ${operation} `);
    say(text('done', { action: label }));
    onDone();
  };
  return h('div', {}, [
    h('button', { type: 'button', class: 'main', disabled: run.isBusy, onClick: carryOut }, label),
    h(Notice, { error: run.error, isWrite: true }),
  ]);
}

/**
 * What went wrong, in words.
 */

import { session } from '../core/app.js';
import { href } from '../core/address.js';
import { isUnknown, NoAnswer, Outdated, Refusal, SessionEnded } from '../core/refusal.js';
import { errorLabel, fieldLabel, text } from '../core/words.js';
import { h } from '../vendor/preact.js';

/**
 * @param {object} props
 * @param {unknown} props.error
 * @param {boolean} [props.isWrite] whether the request may have changed something
 * @param {() => void} [props.onRetry]
 * @param {readonly string[]} [props.shownFields] fields that show their problems themselves
 */
export function Notice({ error, isWrite = false, onRetry, shownFields = [] }) {
  if (!error || error instanceof SessionEnded) {
    return null;
  }
  if (error instanceof Outdated) {
    return h('p', { class: 'notice', role: 'alert' }, [
      sentence(error),
      h('button', { type: 'button', onClick: () => location.reload() }, text('reload')),
    ]);
  }
  const refusal = error instanceof Refusal ? error : null;
  const isShown = (/** @type {string} */ path) =>
    shownFields.some((one) => path === one || path.startsWith(`${one}.`));
  const rest = (refusal?.problems ?? []).filter(({ field }) => !isShown(field));
  return h('div', { class: 'notice', role: 'alert' }, [
    h('p', {}, sentence(error)),
    isWrite && isUnknown(error) && h('p', {}, text('outcome_unknown')),
    rest.length > 0 &&
      h(
        'ul',
        {},
        rest.map((problem) => h('li', { key: problem.field }, problemLine(problem))),
      ),
    refusal?.code === 'approval_required' &&
      h('p', {}, [
        h(
          'a',
          { href: href(['approvals', String(refusal.error.approval_id)]) },
          text('see_approval'),
        ),
      ]),
    refusal?.retryAfter != null &&
      h('p', {}, text('retry_after', { seconds: refusal.retryAfter })),
    refusal?.requestId && h('p', { class: 'quiet' }, text('request_id', { id: refusal.requestId })),
    onRetry && h('button', { type: 'button', onClick: onRetry }, text('try_again')),
  ]);
}

/**
 * Return what went wrong as one text.
 *
 * @param {unknown} error
 */
export function errorText(error) {
  const { problems = [], retryAfter: seconds = null } = error instanceof Refusal ? error : {};
  const wait = seconds === null ? [] : [text('retry_after', { seconds })];
  return [sentence(error), ...problems.map(problemLine), ...wait].join(' ');
}

/** @param {import('../core/refusal.js').Problem} problem */
function problemLine({ field, message }) {
  return [...pathLabels(field), message].join(': ');
}

/**
 * Return the words of a path such as `lines.0.qty`: no word for what is no part of the body.
 *
 * @param {string} path
 */
function pathLabels(path) {
  const parts = path.split('.').filter(Boolean);
  const words = parts.map((part) => (/^\d+$/.test(part) ? String(Number(part) + 1) : fieldLabel(part)));
  return words.length > 0 ? [words.join(' ')] : [];
}

/** @param {unknown} error */
function sentence(error) {
  if (error instanceof NoAnswer) {
    return text('no_answer');
  }
  if (error instanceof Outdated) {
    return text('new_version');
  }
  if (error instanceof SessionEnded) {
    return text('session_ended');
  }
  if (!(error instanceof Refusal)) {
    return error instanceof Error ? error.message : String(error);
  }
  if (error.code === 'approval_required') {
    return text('approval_needed');
  }
  if (error.status === 404 && error.code === 'not_found') {
    return text('not_found');
  }
  if (error.code === 'client_not_allowed' && session.user.value?.isRestricted) {
    return text('restricted');
  }
  const ours = errorLabel(error.code);
  if (ours === null || ours === error.message) {
    return error.message;
  }
  // the message repeats the first problem, with the name that programs have for its field
  return error.problems.length > 0 ? ours : `${ours} ${error.message}`;
}

/**
 * The sign-in, also over a screen whose session ended: what was written there stays.
 */

import { session } from '../core/app.js';
import { Refusal } from '../core/refusal.js';
import { text } from '../core/words.js';
import { useState } from '../vendor/hooks.js';
import { h } from '../vendor/preact.js';
import { Notice } from '../components/notice.js';

/** @typedef {import('../core/session.js').SignedIn} SignedIn */

/**
 * @param {object} props
 * @param {unknown} props.refused why the session of the tab does not continue
 * @param {string} [props.home] where somebody else begins
 */
export function SignIn({ refused, home = document.baseURI }) {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState(refused);
  const isWrong = error instanceof Refusal && error.code === 'invalid_grant';
  /** @param {SubmitEvent} event */
  const submit = async (event) => {
    event.preventDefault();
    const before = session.user.value;
    const data = new FormData(/** @type {HTMLFormElement} */ (event.currentTarget));
    setBusy(true);
    setError(null);
    try {
      await session.signIn(
        String(data.get('username')).trim(),
        String(data.get('password')),
        String(data.get('otp')).trim(),
      );
      if (before !== null && !isSame(before, session.user.value)) {
        location.assign(home); // nothing of somebody else's stays in memory
      }
    } catch (failure) {
      setError(failure);
      setBusy(false);
    }
  };
  return h('form', { class: 'sign-in', onSubmit: submit }, [
    isWrong
      ? h('p', { class: 'notice', role: 'alert' }, text('wrong_credentials'))
      : h(Notice, { error }),
    h('label', {}, [
      text('username'),
      h('input', { name: 'username', required: true, autocomplete: 'username', autofocus: true }),
    ]),
    h('label', {}, [
      text('password'),
      h('input', {
        name: 'password',
        type: 'password',
        required: true,
        autocomplete: 'current-password',
      }),
    ]),
    h('label', {}, [
      text('one_time_code'),
      h('input', { name: 'otp', autocomplete: 'one-time-code', maxLength: 40 }),
      h('span', { class: 'quiet' }, text('one_time_code_hint')),
    ]),
    h('button', { class: 'main', disabled: isBusy }, text(isBusy ? 'signing_in' : 'sign_in')),
  ]);
}

/**
 * @param {SignedIn} one
 * @param {SignedIn | null} other
 */
function isSame(one, other) {
  return one.userId === other?.userId && one.tenant === other.tenant;
}

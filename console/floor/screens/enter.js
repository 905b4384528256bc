/** The way in: the PIN of the device, or the sign-in and the choice of a PIN for the shift. */

import { session } from '../../core/app.js';
import { text } from '../../core/words.js';
import { useEffect, useState } from '../../vendor/hooks.js';
import { h } from '../../vendor/preact.js';
import { SignIn } from '../../screens/sign_in.js';
import { ownerOf } from '../store.js';
import { ATTEMPTS } from '../vault.js';
import { begin, keepSession, leave, pending, unlock, vault } from '../state.js';
import { say } from '../words.js';

/**
 * @param {object} props
 * @param {unknown} props.refused why a session does not continue
 * @param {boolean} [props.isOver] whether it is shown over a screen whose session ended
 */
export function Enter({ refused, isOver = false }) {
  const [sealed, setSealed] = useState(
    /** @type {import('../vault.js').Sealed | null | undefined} */ (undefined),
  );
  const [isForgotten, setForgotten] = useState(false);
  const [isAsking, setAsking] = useState(false);
  useEffect(() => {
    void vault.sealed().then((found) => setSealed(found ?? null));
  }, []);
  const user = session.user.value;
  const isSignedIn = user !== null && !session.isEnded.value;
  if (sealed === undefined) {
    return null;
  }
  if (isSignedIn && !user.isRestricted) {
    return h(ChoosePin, { user });
  }
  const frame = isOver ? 'over' : 'front';
  const count = pending.value.filter(({ owner }) => sealed !== null && owner === ownerOf(sealed.user)).length;
  if (sealed !== null && !isForgotten && !isOver) {
    return h('main', { class: frame }, [
      h('h1', {}, say('locked', { company: sealed.user.tenant })),
      h(Pin, {
        label: say('pin'),
        onPin: async (pin) => {
          const left = await unlock(pin);
          setForgotten(left === 0);
          return left === null ? null : left === 0 ? say('pin_forgotten') : say('pin_wrong', { count: left });
        },
      }),
      isAsking
        ? h('div', { class: 'notice', role: 'alert' }, [
            h('p', {}, say('session_ends')),
            count > 0 && h('p', {}, say('leave_with_waiting', { count })),
            h('button', { type: 'button', class: 'danger', onClick: () => void leave() }, say('end_session')),
            h('button', { type: 'button', onClick: () => setAsking(false) }, say('stay')),
          ])
        : h('button', { type: 'button', onClick: () => setAsking(true) }, say('other_person')),
    ]);
  }
  return h('main', { class: frame }, [
    h('h1', {}, text('product')),
    isForgotten && h('p', { class: 'notice', role: 'alert' }, say('pin_forgotten')),
    pending.value.length > 0 && h('p', {}, say('waiting_at_device', { count: pending.value.length })),
    user?.isRestricted && h('p', { class: 'notice', role: 'alert' }, text('restricted')),
    h(SignIn, { refused, home: location.href }),
  ]);
}

/**
 * @param {object} props
 * @param {import('../../core/session.js').SignedIn} props.user
 */
function ChoosePin({ user }) {
  const [first, setFirst] = useState('');
  /** @param {string} pin */
  const take = async (pin) => {
    if (first === '') {
      setFirst(pin);
      return null;
    }
    if (first !== pin) {
      setFirst('');
      return say('pin_differs');
    }
    await vault.choose(pin, user);
    await keepSession();
    await begin(user);
    return null;
  };
  return h('main', { class: 'front' }, [
    h('h1', {}, say('choose_pin')),
    h('p', {}, say('pin_purpose', { count: ATTEMPTS })),
    h(Pin, { key: first, label: say(first === '' ? 'new_pin' : 'repeat_pin'), onPin: take }),
    h('button', { type: 'button', onClick: () => void begin(user) }, say('without_pin')),
  ]);
}

/**
 * @param {object} props
 * @param {string} props.label
 * @param {(pin: string) => Promise<string | null>} props.onPin returns what is wrong
 */
function Pin({ label, onPin }) {
  const [problem, setProblem] = useState('');
  const [isBusy, setBusy] = useState(false);
  /** @param {SubmitEvent} event */
  const submit = async (event) => {
    event.preventDefault();
    const form = /** @type {HTMLFormElement} */ (event.currentTarget);
    const pin = String(new FormData(form).get('pin'));
    setBusy(true);
    setProblem((await onPin(pin)) ?? '');
    setBusy(false);
    form.reset();
  };
  return h('form', { class: 'sign-in', onSubmit: submit }, [
    problem && h('p', { class: 'notice', role: 'alert' }, problem),
    h('label', {}, [
      label,
      h('input', {
        name: 'pin',
        type: 'password',
        inputMode: 'numeric',
        autocomplete: 'off',
        pattern: '[0-9]{6}',
        title: say('pin_form'),
        maxLength: 6,
        required: true,
        autofocus: true,
      }),
    ]),
    h('button', { class: 'main', disabled: isBusy }, say('go_on')),
  ]);
}

/** Opening without a network, and the next release of the stack. */

import { address } from '../core/address.js';
import { CONSOLE } from '../core/app.js';
import { effect, signal } from '../vendor/signals-core.js';
import { handOver, outcome, vault } from './state.js';

/** How often a page that stays open looks for the next release, in milliseconds. */
const INTERVAL = 30 * 60 * 1000;

/** Keep the floor in the browser, and use the next release between two tasks. */
export function keepUpdated() {
  if (!('serviceWorker' in navigator)) {
    return;
  }
  const options = /** @type {const} */ ({ scope: `${CONSOLE}floor/`, updateViaCache: 'none' });
  navigator.serviceWorker.register(`${CONSOLE}floor/worker.js`, options).then(follow, () => undefined);
}

/** @param {ServiceWorkerRegistration} registration */
function follow(registration) {
  setInterval(() => registration.update().catch(() => undefined), INTERVAL);
  let isAsked = false;
  const isNext = signal(false);
  const found = signal(0); // releases that wait, beside the one that may wait from the beginning
  registration.addEventListener('updatefound', () => {
    const { active, installing } = registration;
    if (active === null) {
      return; // the first release: a page that was loaded again would lose the sign-in under way
    }
    installing?.addEventListener('statechange', () => {
      found.value += installing.state === 'installed' ? 1 : 0;
    });
  });
  navigator.serviceWorker.addEventListener('controllerchange', () => {
    isNext.value = isAsked;
  });
  effect(() => {
    // Without a PIN the next page needs a network to continue the session.
    void found.value;
    const isFree = address.value.path.length <= 1 && (vault.isOpen || (navigator.onLine && outcome.value === 'sent'));
    if (isFree && isNext.value) {
      isNext.value = false;
      handOver();
      location.reload();
    } else if (isFree && registration.waiting) {
      isAsked = true;
      registration.waiting.postMessage('activate');
    }
  });
}

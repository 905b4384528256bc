import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';

import { openFloor, page } from './floor_page.js';

const state = await import('../../console/floor/state.js');
const { address } = await import('../../console/core/address.js');
const { keepUpdated } = await import('../../console/floor/updates.js');

const TOKEN = 'stowage.refresh_token';

/** @type {Record<string, () => void>} what the page hears of the next release */
let heard = {};
const listen = (/** @type {string} */ name, /** @type {() => void} */ then) => (heard[name] = then);

/** @type {{waiting: object | null, active: object | null, installing: {state: string}}} */
let registration;

/** What the page said to the next release that waits. */
let said = /** @type {string[]} */ ([]);
let change = () => undefined;

/** @param {...string} path */
const show = (...path) => {
  address.value = { ...address.value, path: ['floor', ...path] };
};

beforeEach(async () => {
  await openFloor();
  said = [];
  const own = said;
  state.outcome.value = 'sent';
  const made = {
    waiting: { postMessage: (/** @type {string} */ message) => own.push(message) },
    active: {},
    installing: { state: 'installing', addEventListener: listen },
    update: async () => undefined,
    addEventListener: listen,
  };
  registration = made;
  Object.assign(globalThis.navigator, {
    serviceWorker: {
      register: async () => made,
      addEventListener: (/** @type {string} */ _name, /** @type {() => undefined} */ then) => (change = then),
    },
  });
  Object.assign(globalThis, { setInterval: () => 0 });
});

/** Begin the page, and let it see its registration. */
async function begin() {
  keepUpdated();
  await new Promise((resolve) => setTimeout(resolve, 0));
}

test('the next release is used between two tasks, and the session goes on', async () => {
  show('pickings', '1');
  await begin();
  assert.deepEqual(said, []);
  show();
  assert.deepEqual(said, ['activate']);
  change();
  assert.deepEqual([page.reloads, page.tab.has(TOKEN)], [1, true]);
});

test('a release that is ready while the list of tasks is shown is used at once', async () => {
  show();
  const { waiting } = registration;
  registration.waiting = null;
  await begin();
  heard['updatefound']?.();
  heard['statechange']?.();
  assert.deepEqual(said, []);
  [registration.waiting, registration.installing.state] = [waiting, 'installed'];
  heard['statechange']?.();
  assert.deepEqual(said, ['activate']);
});

test('the first release of a browser loads no page again', async () => {
  show();
  const { waiting } = registration;
  [registration.waiting, registration.active] = [null, null];
  await begin();
  heard = { updatefound: heard['updatefound'] ?? assert.fail() };
  heard['updatefound']?.();
  [registration.waiting, registration.installing.state] = [waiting, 'installed'];
  heard['statechange']?.();
  assert.deepEqual(said, []);
});

test('a task that was opened meanwhile is not left: the page is loaded again after it', async () => {
  show();
  await begin();
  show('pickings', '1');
  change();
  assert.equal(page.reloads, 0);
  show();
  assert.equal(page.reloads, 1);
});

test('without a PIN and a network the page is not loaded again; a PIN opens it without one', async () => {
  show('pickings', '1');
  state.outcome.value = 'unanswered';
  await begin();
  show();
  assert.deepEqual(said, []);
  state.outcome.value = 'sent';
  assert.deepEqual(said, ['activate']);
  state.outcome.value = 'unanswered';
  change();
  assert.equal(page.reloads, 0);
  const user = state.worker.value ?? { userId: '7', tenant: 'acme', permissions: new Set(), isRestricted: false, issuedAt: 1 };
  await state.vault.choose('271828', user);
  show('menu');
  show();
  assert.equal(page.reloads, 1);
});

test('a release that another page began leaves this one alone', async () => {
  show('pickings', '1');
  await begin();
  change();
  show();
  assert.equal(page.reloads, 0);
});

import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';

import { openFloor, page } from './floor_page.js';

const state = await import('../../console/floor/state.js');
const { address } = await import('../../console/core/address.js');
const { keepUpdated } = await import('../../console/floor/updates.js');

const TOKEN = 'stowage.refresh_token';

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
  const waiting = { postMessage: (/** @type {string} */ message) => own.push(message) };
  Object.assign(globalThis.navigator, {
    serviceWorker: {
      register: async () => ({ waiting, update: async () => undefined }),
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

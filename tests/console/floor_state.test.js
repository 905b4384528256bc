import assert from 'node:assert/strict';
import { test } from 'node:test';

import { keepTask, openFloor, page, refused, until } from './floor_page.js';

const state = await import('../../console/floor/state.js');
const { rememberedList, rememberList } = await import('../../console/core/remembered.js');
const { browser, session } = await import('../../console/core/app.js');

const PIN = '271828';
const TOKEN = 'stowage.refresh_token';
const PICK = { operation: 'POST /pickings/{id}/picks', parameters: { id: 1 }, body: { qty: 2 } };
const picked = (text = 'a') => state.record({ task: 'pickings/1', text, request: PICK });

/** @param {string} status */
const count = (status) => state.scans.value.filter((scan) => scan.status === status).length;

/** Make every request fail, as without a network. */
function cut() {
  page.answer = () => {
    throw new TypeError('Failed to fetch');
  };
}

test('a scan is sent at once, and again with its key after a lost answer', async () => {
  const user = await openFloor();
  await state.begin(user);
  await keepTask('pickings/1', { lines: [] });
  const answered = page.answer;
  cut();
  await picked();
  await until(() => state.outcome.value === 'unanswered');
  assert.equal(count('waiting'), 1);

  page.answer = answered;
  state.sendNow();
  await until(() => count('done') === 1);
  const keys = page.sent.flatMap(({ key }) => key ?? []);
  assert.ok(keys.length > 1);
  assert.equal(new Set(keys).size, 1);
  assert.equal(state.outcome.value, 'sent');
});

test('a page that could not load what sends tries it again', async () => {
  const user = await openFloor();
  const { newKey } = browser;
  let isLost = true;
  Object.defineProperty(browser, 'newKey', {
    configurable: true,
    get: () => {
      if (isLost) {
        throw new TypeError('Failed to fetch dynamically imported module');
      }
      return newKey;
    },
  });
  await state.begin(user);
  await until(() => state.outcome.value === 'unanswered');
  isLost = false;
  await keepTask('pickings/1', { lines: [] });
  await picked();
  await until(() => count('done') === 1);
  Object.defineProperty(browser, 'newKey', { value: newKey, writable: true, configurable: true, enumerable: true });
});

test('what is refused is a decision, and what stands behind it waits', async () => {
  const user = await openFloor();
  await state.begin(user);
  await keepTask('pickings/1', { lines: [] });
  page.answer = () => refused('conflict');
  await Promise.all([picked('a'), picked('b')]);
  await until(() => state.decisions.value.length === 1);
  assert.deepEqual(state.decisions.value.map(({ text }) => text), ['a']);
  assert.deepEqual(state.waiting.value.map(({ text }) => text), ['b']);
});

test('a scan that is kept but not shown is not scanned again', async () => {
  const user = await openFloor();
  await state.begin(user);
  await keepTask('pickings/1', { lines: [] });
  cut();
  const { pending } = state.store;
  /** @type {unknown[]} */
  const reported = [];
  const { reportError } = globalThis;
  globalThis.reportError = (error) => reported.push(error);
  state.store.pending = async () => {
    throw new DOMException('The database is closing.');
  };
  await picked();
  Object.assign(state.store, { pending });
  globalThis.reportError = reportError;
  await state.reload();
  assert.deepEqual([count('waiting'), reported.length > 0], [1, true]);
});

test('a storage that is full is told from a missing network, and what waits is sent later', async () => {
  const user = await openFloor();
  await keepTask('pickings/1', { lines: [] }, { owner: 'acme/7' }).catch(() => undefined);
  const { reportError } = globalThis;
  globalThis.reportError = () => undefined;
  const change = state.store.change.bind(state.store);
  state.store.change = async () => {
    throw new DOMException('Full.', 'QuotaExceededError');
  };
  await state.begin(user);
  await picked();
  await until(() => state.outcome.value === 'unkept');
  state.store.change = change;
  state.sendNow();
  await until(() => count('done') === 1);
  globalThis.reportError = reportError;
});

test('what the service says of a company that moved is shown', async () => {
  const user = await openFloor();
  await state.begin(user);
  page.answer = () => refused('tenant_moved', 410);
  await picked();
  await until(() => state.outcome.value === 'moved');
  assert.equal(state.notice.value, 'tenant_moved.');
});

test('a task whose end was carried out while another screen was shown leaves the device', async () => {
  const user = await openFloor();
  await state.begin(user);
  await keepTask('pickings/1', { lines: [] });
  await keepTask('pickings/2', { lines: [] });
  const request = { ...PICK, operation: 'POST /pickings/{id}/finalize' };
  await state.record({ task: 'pickings/1', text: 'end', request, isEnd: true });
  await until(() => count('done') === 1);
  await state.forgetEnded();
  assert.deepEqual([state.tasks.value.map(({ id }) => id), state.scans.value], [['pickings/2'], []]);
});

test('a session that a page without a network cannot continue goes on when there is one', async () => {
  const user = await openFloor();
  const token = browser.storage.getItem(TOKEN);
  session.user.value = null;
  const { fetch } = browser;
  browser.fetch = async () => {
    throw new TypeError('Failed to fetch');
  };
  /** @type {(() => void) | undefined} */
  let online;
  const { addEventListener: listen, removeEventListener: unlisten } = globalThis;
  globalThis.addEventListener = (/** @type {string} */ _name, /** @type {any} */ then) => (online = then);
  globalThis.removeEventListener = () => undefined;
  assert.equal(/** @type {Error} */ (await state.continueSession()).name, 'NoAnswer');
  browser.fetch = fetch;
  online?.();
  await until(() => session.user.value !== null);
  assert.equal(state.today().getTime(), user.issuedAt * 1000);
  assert.equal(page.renewed.includes(token ?? ''), true);
  Object.assign(globalThis, { addEventListener: listen, removeEventListener: unlisten });
});

test('a page sends nothing more after another one has taken over', async () => {
  const user = await openFloor();
  await state.begin(user);
  await state.openFloor();
  await until(() => state.isElsewhere.value);
  await picked();
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.deepEqual(page.sent, []);
  assert.equal(count('waiting'), 1);
});

test('nothing is sent while nobody works at the device', async () => {
  const user = await openFloor();
  await state.begin(user);
  cut();
  await picked();
  await until(() => page.sent.length > 0);
  state.lock();
  const { length } = page.sent;
  state.sendNow();
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.deepEqual([page.reloads, page.sent.length, state.pending.value.length], [1, length, 1]);
});

test('the session of a tab moves into memory, and back only for a page without a PIN', async () => {
  await openFloor();
  page.tab.set(TOKEN, 'of-the-tab');
  state.holdSession();
  assert.equal(page.tab.has(TOKEN), false);
  await session.renew();
  assert.deepEqual(page.renewed, ['of-the-tab']);

  state.handOver();
  const left = page.tab.get(TOKEN);
  assert.ok(left);
  state.holdSession();
  assert.equal(browser.storage.getItem(TOKEN), left);

  const user = session.user.value;
  assert.ok(user);
  await state.vault.choose(PIN, user);
  state.handOver();
  assert.equal(page.tab.has(TOKEN), false);
});

test('the PIN opens the session without a network, with the token of the last renewal', async () => {
  const user = await openFloor();
  state.followSession();
  await state.vault.choose(PIN, user);
  await state.keepSession();
  const first = (await state.vault.sealed())?.content;
  await session.renew();
  /** @type {ArrayBuffer | undefined} */
  let sealed = first;
  while (sealed === first) {
    sealed = (await state.vault.sealed())?.content;
  }
  const token = browser.storage.getItem(TOKEN);

  await state.openFloor(); // the next page
  state.holdSession();
  session.user.value = null;
  assert.equal(await state.unlock('000000'), 4);
  assert.deepEqual([state.worker.value, browser.storage.getItem(TOKEN)], [null, null]);
  assert.equal(await state.unlock(PIN), null);
  assert.deepEqual([state.parts().owner, browser.storage.getItem(TOKEN)], ['acme/7', token]);
});

test('who leaves takes the session and what is done along; what waits stays', async () => {
  const user = await openFloor();
  await state.vault.choose(PIN, user);
  await state.keepSession();
  await state.begin(user);
  await keepTask('pickings/1', { lines: [] });
  await keepTask('pickings/2', { lines: [] });
  cut();
  await picked();
  rememberList(localStorage, session.owner, 'clients', { filters: { search: 'Berta' } });
  await state.leave();
  assert.equal(await state.vault.sealed(), undefined);
  assert.deepEqual(rememberedList(localStorage, '7@acme', 'clients').filters, {});
  assert.equal(session.user.value, null);
  assert.deepEqual((await state.store.tasks('acme/7')).map(({ id }) => id), ['pickings/1']);
  assert.equal((await state.store.pending()).length, 1);
});

test('lines of a transfer that nothing has carried out stay when their person leaves', async () => {
  const user = await openFloor();
  await state.begin(user);
  const line = { item_code: 'BOLT', position: 'A-1', batch: null, serial: null, qty: 1, text: 'a' };
  await keepTask('transfers/1', { lines: [] }, { scanned: [line] });
  await keepTask('transfers/2', { lines: [] }, { scanned: [line] });
  const request = { operation: 'POST /transfers/{id}/execute', parameters: { id: 2 }, body: {} };
  await state.record({ task: 'transfers/2', text: 'end', request, isEnd: true });
  await until(() => count('done') === 1);
  await state.leave();
  assert.deepEqual((await state.store.tasks('acme/7')).map(({ id }) => id), ['transfers/1']);
});

test('who discards scans keeps the tasks that have none of them', async () => {
  const user = await openFloor();
  await state.begin(user);
  await keepTask('pickings/1', { lines: [] });
  await keepTask('pickings/2', { lines: [] });
  await keepTask('counts/3', { lines: [] });
  cut();
  await picked('a');
  await state.record({ task: 'counts/3', text: 'b', request: PICK });
  const [first, second] = state.scans.value;
  await state.store.discard('acme/8', [first?.number ?? 0, second?.number ?? 0]);
  assert.equal((await state.store.pending()).length, 2, 'they are of somebody else');
  await state.store.discard('acme/7', [first?.number ?? 0]);
  assert.deepEqual((await state.store.pending()).map(({ text }) => text), ['b']);
  assert.deepEqual((await state.store.tasks('acme/7')).map(({ id }) => id), ['counts/3', 'pickings/2']);
});

test('a request that hangs ends', async () => {
  await openFloor();
  state.boundRequests();
  /** @type {AbortSignal[]} */
  const signals = [];
  const { fetch } = globalThis;
  const stop = new AbortController();
  globalThis.fetch = async (_input, init) => {
    signals.push(/** @type {AbortSignal} */ (init?.signal));
    return new Response();
  };
  await browser.fetch('https://wms.example/', { signal: stop.signal });
  globalThis.fetch = fetch;
  assert.equal(signals[0]?.aborted, false);
  stop.abort();
  assert.equal(signals[0]?.aborted, true);
});

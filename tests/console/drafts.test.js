import assert from 'node:assert/strict';
import { test } from 'node:test';

import { forgetDraft, keepDraft, keptDraft } from '../../console/core/drafts.js';
import { forgetDrafts } from '../../console/core/kept.js';
import { lastOpened, rememberOpened } from '../../console/core/recent.js';

/** @returns {any} the storage of a tab */
function storage() {
  const items = /** @type {Record<string, string>} */ ({});
  const methods = {
    getItem: (/** @type {string} */ key) => items[key] ?? null,
    setItem: (/** @type {string} */ key, /** @type {string} */ value) => (items[key] = value),
    removeItem: (/** @type {string} */ key) => delete items[key],
  };
  return new Proxy(items, { get: (_, name) => Reflect.get(methods, name) ?? Reflect.get(items, name) });
}

test('a draft is kept for its user and form, without passwords and secrets', () => {
  const tab = storage();
  keepDraft(tab, '7', 'POST /users', { name: 'Ana', password: 'eleven green bottles', secret: 'whsec_1' });
  assert.deepEqual(keptDraft(tab, '7', 'POST /users'), { name: 'Ana' });
  assert.equal(keptDraft(tab, '8', 'POST /users'), null);
  assert.equal(keptDraft(tab, '7', 'POST /roles'), null);
  forgetDraft(tab, '7', 'POST /users');
  assert.equal(keptDraft(tab, '7', 'POST /users'), null);
});

test('the last ten that were opened are kept for their user, each once', () => {
  const tab = storage();
  for (const id of [...Array(12).keys(), 11, 5].map(String)) {
    rememberOpened(tab, '7', { subject: 'receipts', id, title: `Receipt ${id}` });
  }
  const ids = lastOpened(tab, '7').map(({ id }) => id);
  assert.deepEqual(ids, ['5', '11', '10', '9', '8', '7', '6', '4', '3', '2']);
  assert.deepEqual(lastOpened(tab, '8'), []);
  forgetDrafts(tab);
  assert.deepEqual(lastOpened(tab, '7'), []);
});

test('a full storage does not keep a screen from being shown', () => {
  const full = new Proxy({}, { set: () => { throw new Error('QuotaExceededError'); } });
  rememberOpened(full, '7', { subject: 'receipts', id: '1', title: 'Receipt 1' });
  assert.deepEqual(lastOpened(full, '7'), []);
});

test('a sign-out forgets all drafts and nothing else, and a full storage keeps none', () => {
  const tab = storage();
  tab.setItem('stowage.tab', 'x');
  keepDraft(tab, '7', 'POST /roles', { name: 'Packers' });
  forgetDrafts(tab);
  assert.deepEqual(Object.keys(tab), ['stowage.tab']);
  const full = { setItem: () => { throw new Error('QuotaExceededError'); } };
  keepDraft(full, '7', 'POST /roles', { name: 'Packers' });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { forgetDraft, forgetDrafts, keepDraft, keptDraft } from '../../console/core/drafts.js';

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

test('a draft is kept for its user and form, without passwords', () => {
  const tab = storage();
  keepDraft(tab, '7', 'POST /users', { name: 'Ana', password: 'eleven green bottles' });
  assert.deepEqual(keptDraft(tab, '7', 'POST /users'), { name: 'Ana' });
  assert.equal(keptDraft(tab, '8', 'POST /users'), null);
  assert.equal(keptDraft(tab, '7', 'POST /roles'), null);
  forgetDraft(tab, '7', 'POST /users');
  assert.equal(keptDraft(tab, '7', 'POST /users'), null);
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

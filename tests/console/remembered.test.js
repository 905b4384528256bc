import assert from 'node:assert/strict';
import { test } from 'node:test';

import { hasFilters, partsOf, rememberedList, rememberList } from '../../console/core/remembered.js';

function newStorage() {
  /** @type {Map<string, string>} */
  const kept = new Map();
  return {
    getItem: (/** @type {string} */ name) => kept.get(name) ?? null,
    setItem: (/** @type {string} */ name, /** @type {string} */ value) => void kept.set(name, value),
  };
}

test('a list is remembered for each person of each company', () => {
  const storage = newStorage();
  rememberList(storage, '7@acme', 'products', { filters: { type: 'kit' } });
  rememberList(storage, '7@acme', 'products', { saved: { Kits: { type: 'kit' } } });
  assert.deepEqual(rememberedList(storage, '7@acme', 'products'), {
    view: {},
    filters: { type: 'kit' },
    saved: { Kits: { type: 'kit' } },
  });
  const nothing = { view: {}, filters: {}, saved: {} };
  assert.deepEqual(rememberedList(storage, '8@acme', 'products'), nothing);
  assert.deepEqual(rememberedList(storage, '7@beta', 'products'), nothing);
  assert.deepEqual(rememberedList(storage, '7@acme', 'stocks'), nothing);
});

test('a full storage keeps nobody from working', () => {
  const full = {
    getItem: () => null,
    setItem: () => {
      throw new DOMException('full', 'QuotaExceededError');
    },
  };
  rememberList(full, '7@acme', 'products', { view: { per_page: '50' } });
});

test('columns and rows per page are remembered apart from filters, and the page is not', () => {
  const query = { columns: 'name', per_page: 50, search: 'a', sort: '-name', type: null, page: 3, cursor: 'x' };
  assert.deepEqual(partsOf(query), {
    view: { columns: 'name', per_page: '50' },
    filters: { search: 'a', sort: '-name' },
  });
  assert.ok(hasFilters(['page', 'type']));
  assert.ok(!hasFilters(['page', 'per_page', 'cursor', 'columns']));
});

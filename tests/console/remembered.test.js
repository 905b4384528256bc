import assert from 'node:assert/strict';
import { test } from 'node:test';

import {
  forgetFilters,
  hasFilters,
  partsOf,
  rememberedList,
  rememberList,
  saveFilters,
} from '../../console/core/remembered.js';

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

test('contents of others are read as nothing', () => {
  const nothing = { view: {}, filters: {}, saved: {} };
  for (const text of ['', '{"view"', 'null', '7', '[]', '{"view":null,"filters":"ab","saved":[7,null]}']) {
    const { view, filters, saved } = rememberedList({ getItem: () => text }, '7@acme', 'products');
    assert.deepEqual({ view, filters, saved: Object.values(saved).filter((one) => Object.keys(one).length > 0) }, {
      ...nothing,
      saved: [],
    });
  }
  const text = '{"view":{"per_page":50},"filters":{"type":"","search":"a","sort":{}},"saved":{"A":{"b":["c"]}}}';
  assert.deepEqual(rememberedList({ getItem: () => text }, '7@acme', 'products'), {
    view: {},
    filters: { search: 'a' },
    saved: { A: {} },
  });
});

test('filters that another tab saved stay', () => {
  const storage = newStorage();
  saveFilters(storage, '7@acme', 'products', 'Kits', { type: 'kit' });
  saveFilters(storage, '7@acme', 'products', '__proto__', { search: 'a' });
  saveFilters(storage, '7@acme', 'products', 'Kits', null);
  const { saved } = rememberedList(storage, '7@acme', 'products');
  assert.deepEqual(Object.entries(saved), [['__proto__', { search: 'a' }]]);
});

test('a sign-out forgets the last filters of the person, not what has a name', () => {
  const storage = newStorage();
  const kept = { view: { per_page: '50' }, filters: { search: 'Ana' }, saved: { Kits: { type: 'kit' } } };
  for (const owner of ['7@acme', '77@acme']) {
    rememberList(storage, owner, 'products', kept);
  }
  const keys = ['7@acme', '77@acme'].map((owner) => [`stowage.list ${owner} products`, '']);
  forgetFilters(/** @type {any} */ (Object.assign(Object.create(storage), Object.fromEntries(keys))), '7@acme');
  assert.deepEqual(rememberedList(storage, '7@acme', 'products'), { ...kept, filters: {} });
  assert.deepEqual(rememberedList(storage, '77@acme', 'products'), kept);
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

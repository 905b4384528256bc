import assert from 'node:assert/strict';
import { test } from 'node:test';

import { useLanguage } from '../../console/core/words.js';

Object.assign(globalThis, { document: { baseURI: 'https://wms.example/v1/console/' } });
const { nameOf, plain } = await import('../../console/components/value.js');
await useLanguage('en');

test('an object is called by its number or reference, or else by its kind and id', () => {
  assert.equal(nameOf({ type: 'sale_order', id: 4, doc_num: 'EX-4' }), 'EX-4');
  assert.equal(nameOf({ object: 'receipt', id: 3 }), 'Receipt 3');
  assert.equal(nameOf({ type: 'settings', id: null }), 'Settings');
  assert.equal(nameOf({ type: 'user', id: '7', name: 'Ana' }), 'Ana');
});

test('lists of objects are counted', () => {
  const lines = /** @type {const} */ ({ name: 'lines', type: 'array', items: { type: 'object' } });
  assert.equal(plain(lines, [{}]), '1 entry');
  assert.equal(plain(lines, [{}, {}]), '2 entries');
});

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { useLanguage } from '../../console/core/words.js';

Object.assign(globalThis, { document: { baseURI: 'https://wms.example/v1/console/' }, addEventListener: () => undefined });
const { nameOf, plain } = await import('../../console/components/value.js');
const { remarksOf } = await import('../../console/screens/dialogs.js');
const { headsOf } = await import('../../console/screens/panels/import.js');
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

test('the head of a report of an import, and the goods that an answer names, are in the language of the screen', async () => {
  const remarks = { unapplied: [{ message: 'line 2: no stock' }], left: [{ item_code: 'BOLT', qty: 12345.5 }] };
  assert.match(remarksOf(remarks)[1] ?? '', /BOLT.*12,345\.5|12,345\.5.*BOLT/);
  await useLanguage('es');
  const [unapplied, left] = remarksOf(remarks);
  assert.match(unapplied ?? '', /line 2: no stock/);
  assert.match(left ?? '', /12\.345,5/);
  assert.deepEqual(headsOf(['Row', 'Field', 'Reason', 'Code']), ['Fila', 'Campo', 'Motivo', 'Code']);
  await useLanguage('en');
});

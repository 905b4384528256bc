import assert from 'node:assert/strict';
import { test } from 'node:test';

globalThis.document = /** @type {any} */ ({ baseURI: 'https://acme.test/api/v1/console/' });
const { placesOf } = await import('../../console/components/putaway.js');
const { SUBJECT } = await import('../../console/subjects.js');

const LINES = [
  { item_code: 'BOLT', bin_code: 'A-1', batch_num: 'L1', qty: 10, picked_qty: 4 },
  { item_code: 'BOLT', bin_code: 'A-2', batch_num: null, qty: 5, picked_qty: 0 },
  { item_code: 'BOLT', bin_code: 'A-2', batch_num: null, qty: 2.1, picked_qty: 2 },
  { item_code: 'BOLT', bin_code: null, batch_num: null, qty: 3, picked_qty: 0 },
  { item_code: 'NUT', bin_code: 'A-3', batch_num: null, qty: 1, picked_qty: 1 },
];

test('positions of a transfer order are those where its picking has the goods', () => {
  const of = (/** @type {string} */ operation, /** @type {string} */ code) => {
    const action = SUBJECT.get('transfer-orders')?.actions?.find((one) => one.operation === operation && one.takes);
    return placesOf(LINES, { item_code: code }, action?.takes ?? assert.fail(operation));
  };
  const picks = 'POST /transfer-orders/{id}/picks';
  assert.deepEqual(of(picks, 'BOLT'), [
    { label: 'A-1 · L1 · 6', fills: { bin_code: 'A-1', batch: 'L1' } },
    { label: 'A-2 · 5.1', fills: { bin_code: 'A-2' } },
  ]);
  assert.deepEqual(of(picks, 'NUT'), []);
  assert.deepEqual(of(`${picks}/undo`, 'BOLT').map(({ label }) => label), ['A-1 · L1 · 4', 'A-2 · 2']);
});

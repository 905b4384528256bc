import assert from 'node:assert/strict';
import { test } from 'node:test';

import { aheadOf } from '../../console/floor/clock.js';
import { qtyOf } from '../../console/floor/goods.js';
import { isOver, kindOf } from '../../console/floor/kinds.js';
import { holderOf } from '../../console/floor/task_rows.js';

const NO_GOODS = { products: [], positions: {} };

/**
 * @param {string} id
 * @param {Record<string, any>} resources
 * @returns {import('../../console/floor/store.js').Task}
 */
const taskOf = (id, resources) => ({
  id, owner: 'acme/7', resources, etags: {}, warehouse: 'CEN', changes: 0, goods: NO_GOODS,
});

test('decimals that are received one by one complete their line', () => {
  const lines = Array.from({ length: 8 }, () => ({ item_code: 'ROPE', qty: 0.1 }));
  const task = taskOf('receipts/1', {
    'receipts/1': { document: { id: 5 }, lines },
    'entry-documents/5': {
      lines: [{ item_code: 'ROPE', qty: 0.8, received_qty: 0 }], receiptThen: { lines: [] },
    },
  });
  assert.equal(kindOf('receipts/1').lines(task)[0]?.done, 0.8);
});

test('goods without an expiry date are received without one, and an announced date is known', () => {
  const line = { item_code: 'PAINT', qty: 4, received_qty: 0, batch: 'L1', expiry_date: '2030-01-31' };
  const task = taskOf('receipts/1', {
    'receipts/1': { document: { id: 5 }, lines: [] }, 'entry-documents/5': { lines: [line], receiptThen: { lines: [] } },
  });
  assert.deepEqual(kindOf('receipts/1').lines(task)[0]?.expiry, { batch: 'L1', date: '2030-01-31' });
  const product = { item_code: 'PAINT', name: '', barcode: null, gtins: [], hasBatches: true, hasSerials: false };
  const { body } = kindOf('receipts/1').request(task, { product, qty: 4, batch: 'L1', expires: '', target: 'A-1' });
  assert.deepEqual(body, { item_code: 'PAINT', qty: 4, batch: 'L1', bin_code: 'A-1' });
});

test('other serials than the allocated ones may be picked: the service decides', () => {
  const line = {
    item_code: 'SAW', bin_code: 'A-1', batch_num: null, serials: ['S1'], qty: 1, picked_qty: 0,
  };
  const [shown] = kindOf('pickings/1').lines(taskOf('pickings/1', { 'pickings/1': { lines: [line] } }));
  assert.deepEqual([shown?.serials, shown?.proposed], [[], ['S1']]);
});

test('what was put into a handling unit is taken out, and a closed one is opened', () => {
  const { undo } = kindOf('packing-orders/1');
  const parameters = { id: 3 };
  const body = { item_code: 'BOLT', qty: 2 };
  assert.deepEqual(undo({ operation: 'POST /handling-units/{id}/contents', parameters, body }), {
    operation: 'POST /handling-units/{id}/contents/remove', parameters, body,
  });
  const closing = { operation: 'POST /handling-units/{id}/close', parameters, body: { weight_kg: 2 } };
  assert.deepEqual(undo(closing), {
    operation: 'POST /handling-units/{id}/reopen', parameters, body: {},
  });
});

test('goods of a transfer order that did not arrive end its receipt', () => {
  const { end, endsItself } = kindOf('transfer-orders/3');
  assert.deepEqual(end?.(taskOf('transfer-orders/3', {}), null), {
    operation: 'POST /transfer-orders/{id}/receive', parameters: { id: 3 }, body: { final: true },
  });
  assert.equal(endsItself, true, 'after the last goods the service ends it');
});

test('a task that somebody else has ended is over', () => {
  const isOverIn = (/** @type {string} */ status) => isOver(taskOf('pickings/1', { 'pickings/1': { status } }));
  assert.deepEqual(['pending', 'started', 'finalized', 'cancelled'].map(isOverIn), [false, false, true, true]);
  assert.equal(isOver(taskOf('moves/CEN', { 'moves/CEN': {} })), false);
});

test('who only created pending work does not have it; who is named has it', () => {
  const [anna, ben] = [{ id: 1, name: 'Anna' }, { id: 2, name: 'Ben' }];
  assert.equal(holderOf({ status: 'pending', user_id: 1, operator: anna }), null);
  assert.equal(holderOf({ status: 'pending', user_id: 1, operator: ben }), ben);
  assert.equal(holderOf({ status: 'started', user_id: 1, operator: anna }), anna);
  assert.equal(holderOf({ status: 'open', assigned_to: ben }), ben);
  const lines = [
    { counted_by: ben, counted_at: '2026-03-01T09:31:00Z' }, { counted_by: anna, counted_at: '2026-03-01T09:30:00Z' },
    { counted_by: null, counted_at: null },
  ];
  assert.equal(holderOf({ status: 'counting', assigned_to: null, lines }), ben);
  assert.equal(holderOf({ status: 'counting', assigned_to: anna, lines }), anna);
  assert.equal(holderOf({ status: 'open', lines: null }), null, 'as lists have them');
});

test('an empty field is no quantity, and neither is what only programs write', () => {
  assert.deepEqual(['12', '0', ' 0,5 ', '1.25'].map((text) => qtyOf(text, '.')), [12, 0, 0.5, 1.25]);
  for (const text of ['', ' ', '-1', '0x10', '1e3', '1.234,5', '0.1234567', 'Infinity']) {
    assert.equal(qtyOf(text, '.'), 'no_quantity', text);
  }
});

test('what may be a thousand or one is no quantity; decimals of the language are', () => {
  assert.deepEqual(['1,000', '1.000', '0,125'].map((text) => qtyOf(text, '.')), ['unclear_quantity', 1, 0.125]);
  assert.deepEqual(['1,000', '1.000', '12.5'].map((text) => qtyOf(text, ',')), [1, 'unclear_quantity', 12.5]);
});

test('a count has the time of the service at which it was recorded', () => {
  const ahead = aheadOf(new Date(Date.now() - 3_600_000).toUTCString());
  assert.ok(Math.abs(ahead - 3_600_000) < 2_000);
  assert.deepEqual([aheadOf(new Date().toUTCString()), aheadOf(null)], [0, 0]);
  const entry = /** @type {any} */ ({ isEmpty: true, position: 'A-1', qty: 0 });
  const { body } = kindOf('counts/3').request({ ...taskOf('counts/3', {}), ahead }, entry);
  const { counted_at: at, ...others } = /** @type {any} */ (body);
  assert.deepEqual(others, { empty: true, bin_code: 'A-1' });
  assert.ok(Math.abs(Date.now() - 3_600_000 - Date.parse(at)) < 5_000);
});

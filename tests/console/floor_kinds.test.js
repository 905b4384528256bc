import assert from 'node:assert/strict';
import { test } from 'node:test';

import { kindOf } from '../../console/floor/kinds.js';

const NO_GOODS = { products: [], positions: {} };

/**
 * @param {string} id
 * @param {Record<string, any>} resources
 * @returns {import('../../console/floor/store.js').Task}
 */
const taskOf = (id, resources) => ({
  id, owner: 'acme/7', resources, etags: {}, warehouse: 'CEN', answers: 0, goods: NO_GOODS,
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

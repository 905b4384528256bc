import assert from 'node:assert/strict';
import { test } from 'node:test';

import { codeOf } from '../../console/core/codes.js';
import { linkInRow, linkOf, readable } from '../../console/core/links.js';
import { useLanguage } from '../../console/core/words.js';

await useLanguage('en');

test('an id leads to its resource, and so does the name beside it', () => {
  const row = { product_id: 7, item_code: 'A/1', picking_id: null, batch_num: 'L1' };
  assert.equal(linkOf('product_id', row), 'products/7');
  assert.equal(linkOf('item_code', row), 'products/7');
  assert.equal(linkOf('picking_id', row), undefined);
  assert.equal(linkOf('batch_num', row), undefined);
  assert.equal(linkOf('item_code', { item_code: 'A/1' }), undefined);
  assert.equal(linkOf('wave_id', { wave_id: 4 }), 'waves/4');
});

test('an object leads to the resource that it names by kind, or by the subject of its field', () => {
  const row = { resource: { object: 'receipt', id: 3 }, document: { type: 'purchase_order', id: 4 } };
  assert.equal(linkOf('resource', row), 'receipts/3');
  assert.equal(linkOf('document', row), undefined);
  const links = { document: 'entry-documents' };
  assert.equal(linkOf('document', row, links), 'entry-documents/4');
  const picking = { document: { type: 'transfer_order', id: 4 } };
  assert.equal(linkOf('document', picking, links), 'transfer-orders/4');
});

test('the title of a row in a table leads to the row', () => {
  const row = { object: 'handling_unit', id: 5, code: 'HU-5', parent_id: 2 };
  assert.equal(linkInRow('code', row), 'handling-units/5');
  assert.equal(linkInRow('parent_id', row), 'handling-units/2');
});

test('an id is shown as the code that is made of it', () => {
  const codes = ['packing_order_id', 'parent_id', 'picking_id', 'wave_id'].map((name) => codeOf(name, 12));
  assert.deepEqual(codes, ['PK-12', 'HU-12', 'PKG-12', 'WV-12']);
  assert.deepEqual([codeOf('receipt_id', 12), codeOf('exit_document_id', 12)], ['Receipt 12', 'EX-12']);
  assert.deepEqual([codeOf('picking_ids', [3, 4]), codeOf('picking_ids', [])], ['PKG-3, PKG-4', undefined]);
  assert.deepEqual([codeOf('product_id', 12), codeOf('wave_id', null), codeOf('qty', 12)], Array(3).fill(undefined));
});

test('names are shown instead of the ids beside them', () => {
  const names = ['object', 'id', 'line_num', 'product_id', 'item_code', 'picking_id'];
  const shown = readable(names.map((name) => ({ name })));
  assert.deepEqual(shown.map(({ name }) => name), ['line_num', 'item_code', 'picking_id']);
  const statuses = ['status', 'status_label', 'wms_status'].map((name) => ({ name }));
  assert.deepEqual(readable(statuses), [{ name: 'status' }], 'transfers have it three times');
  assert.deepEqual(readable([{ name: 'id' }, { name: 'product_id' }]).length, 2);
  assert.deepEqual(readable([{ name: 'user_id' }, { name: 'operator' }]), [{ name: 'operator' }]);
});

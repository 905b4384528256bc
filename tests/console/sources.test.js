import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';

import { chosenOf, sourcesOf, usualField } from '../../console/core/sources.js';

const FOLDER = new URL('../../console/interface/', import.meta.url);

/** @param {readonly import('../../console/core/sources.js').Source[]} sources */
const asked = (sources) => sources.map(({ list, query = {} }) => [list, query]);

test('partners come from recent documents of the kind, and from the right side of the catalog', () => {
  const of = (/** @type {string[]} */ screen, type = '') => asked(sourcesOf('partner_code', {}, { draft: { type } }, screen));
  const sort = '-created_at';
  assert.deepEqual(of(['entry-documents', 'new'], 'purchase_order'), [
    ['entry-documents', { type: undefined, sort }],
    ['providers', {}],
  ]);
  assert.deepEqual(of(['exit-documents', 'new'], 'delivery_note'), [
    ['exit-documents', { type: 'delivery_note', sort }],
    ['clients', {}],
  ]);
  const back = [['exit-documents', { type: 'return_to_provider', sort }], ['providers', {}]];
  assert.deepEqual(of(['exit-documents', 'new'], 'return_to_provider'), back);
  assert.deepEqual(of(['returns', '7']), back); // what is decided about them
  assert.deepEqual(of(['returns', 'new']), [['exit-documents', { type: 'sale_order', sort }], ['clients', {}]]);
});

test('a partner has the code and fills the name in; one without a code cannot be chosen', () => {
  const [recent, clients] = sourcesOf('partner_code', {}, {}, ['exit-documents', 'new']);
  assert.deepEqual(recent?.choiceOf({ card_code: 'C-1', card_name: 'Shop' }), {
    value: 'C-1', name: 'C-1', more: 'Shop', fills: { partner_name: 'Shop' },
  });
  assert.deepEqual(recent?.choiceOf({ card_code: 'C-1', card_name: null }).fills, {});
  assert.equal(clients?.choiceOf({ code: null, document_id: 12, name: 'Shop' }).value, '12');
  assert.equal(clients?.choiceOf({ code: null, name: 'Mill' }).value, '');
});

test('positions are those of the warehouse of the line, else of the form, else of the work', () => {
  const of = (/** @type {string} */ name, beside = {}, draft = {}, resource = {}) =>
    asked(sourcesOf(name, beside, { draft, resource }))[0]?.[1];
  assert.deepEqual(of('bin_code', { warehouse: 'A' }, { warehouse_code: 'B' }, { whs_code: 'C' }), { warehouse: 'A' });
  assert.deepEqual(of('destination_bin', {}, { warehouse_code: 'B' }, { whs_code: 'C' }), { warehouse: 'B' });
  assert.deepEqual(of('bin_code', {}, {}, { whs_code: 'C' }), { warehouse: 'C' });
  const move = { from_warehouse: 'A', to_warehouse: 'B' };
  assert.deepEqual([of('from_bin', {}, move), of('to_bin', {}, move)], [{ warehouse: 'A' }, { warehouse: 'B' }]);
  assert.deepEqual(of('bin_code'), {});
});

test('ids are chosen by names, of the list that the screen means', () => {
  const listOf = (/** @type {string} */ name, /** @type {string[]} */ ...screen) => asked(sourcesOf(name, {}, {}, screen))[0];
  assert.deepEqual(listOf('document_id', 'receipts', 'new'), ['entry-documents', {}]);
  assert.deepEqual(listOf('document_id', 'pickings', 'new'), ['exit-documents', {}]);
  assert.equal(listOf('document_id', 'clients', 'new'), undefined, 'a number of the tax office');
  assert.deepEqual(listOf('picking_ids', 'waves', 'new'), ['pickings', { status: 'pending' }]);
  assert.deepEqual(listOf('picking_ids', 'packing-orders', 'new'), ['pickings', { status: 'finalized' }]);
  const [units] = sourcesOf('parent_id', {}, { resource: { id: 7 } });
  assert.deepEqual(units?.query, { status: 'open', packing_order_id: 7 });
  const [picking] = sourcesOf('picking_ids');
  const row = { id: 3, code: 'P-3', document: { doc_num: 'EX-9' }, concept: null };
  assert.deepEqual(picking?.choiceOf(row), { value: '3', name: 'P-3', more: 'EX-9' });
  const isById = (/** @type {string} */ name) => sourcesOf(name)[0]?.isById === true;
  assert.deepEqual(['picking_ids', 'operator_id', 'item_code', 'comments'].map(isById), [true, true, false, false]);
});

test('every form of something in a warehouse begins with the usual one', async () => {
  const fieldOf = async (/** @type {string} */ name, operation = `POST /${name}`) => {
    const { default: description } = await import(new URL(`${name}.js`, FOLDER).href);
    return usualField(operation, description.actions[operation].body);
  };
  assert.equal(await fieldOf('exit-documents'), 'warehouse_code');
  assert.equal(await fieldOf('stock-adjustments'), 'warehouse');
  assert.equal(await fieldOf('transfers'), 'from_warehouse');
  assert.equal(await fieldOf('transfer-orders'), 'from_warehouse');
  assert.equal(await fieldOf('warehouse-positions', 'POST /warehouse-positions/bulk'), 'whs_code');
  assert.equal(await fieldOf('warehouses'), undefined, 'its code is new');
  assert.equal(await fieldOf('clients'), undefined);
});

test('what is written means a choice by its name, or the only one with this reference', () => {
  const choices = [
    { value: '7', name: 'EX-7', more: 'PO-1 · Shop' },
    { value: '8', name: 'EX-8', more: 'PO-2 · Shop' },
  ];
  const none = /** @type {{id: string, name: string | undefined}} */ ({ id: '', name: undefined });
  const of = (/** @type {string} */ written, isById = true, found = none, hasOthers = false) =>
    chosenOf(choices, written, isById, found, hasOthers)?.value;
  assert.deepEqual([of('ex-7 '), of('po-2'), of('Shop'), of('PO-'), of('8'), of('')], ['7', '8', ...Array(4).fill(undefined)]);
  assert.deepEqual([of('po-2', true, none, true), of('ex-7', true, none, true)], [undefined, '7'], 'others may have it');
  assert.equal(of('PO-2', false), undefined, 'the code of a partner is written itself');
  assert.equal(of('EX-90', true, { id: '90', name: 'EX-90' }), '90');
  assert.equal(of('HD-90', true, { id: '90', name: 'EX-90' }), undefined);
});

test('every source is a list of the interface with the filters that it is asked by', async () => {
  /** @type {Map<string, import('../../console/core/subject.js').List>} */
  const lists = new Map();
  /** @type {Set<string>} */
  const names = new Set();
  for (const file of readdirSync(FOLDER).filter((name) => name.endsWith('.js'))) {
    const { default: description } = await import(new URL(file, FOLDER).href);
    Object.entries(description.lists).forEach(([path, list]) => lists.set(path, /** @type {any} */ (list)));
    for (const { body } of Object.values(/** @type {Record<string, any>} */ (description.actions))) {
      body?.forEach((/** @type {any} */ { name, items }) =>
        [name, ...(items?.fields ?? []).map((/** @type {any} */ one) => one.name)].forEach((one) => names.add(one)),
      );
    }
  }
  for (const name of names) {
    const around = { draft: { warehouse_code: 'A' }, resource: { id: 1 } };
    for (const { list, filter = 'search', query = {}, choiceOf } of sourcesOf(name, {}, around)) {
      const known = lists.get(`/${list}`);
      assert.ok(known, list);
      const filters = new Set(['sort', ...known.filters.map((one) => one.name)]);
      assert.deepEqual([filter, ...Object.keys(query)].filter((one) => one !== null && !filters.has(one)), [], `${name}: ${list}`);
      const row = Object.fromEntries(known.fields.map((one) => [one.name, one.name]));
      assert.ok(!['', 'undefined'].includes(choiceOf(row).name), `${name}: ${list}`);
    }
  }
  // no list has the names of carriers and zones, replenishments have a screen of their own, and the
  // documents of a client are no orders
  const ids = [...names].filter((name) => /_ids?$/.test(name) && sourcesOf(name).length === 0);
  assert.deepEqual(ids.sort(), ['carrier_id', 'document_id', 'pick_face_ids', 'zone_id']);
});

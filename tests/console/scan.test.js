import assert from 'node:assert/strict';
import { test } from 'node:test';

globalThis.document = /** @type {any} */ ({ baseURI: 'https://acme.test/api/v1/console/' });
const { setTimeout: sleep } = globalThis;
globalThis.setTimeout = /** @type {any} */ ((/** @type {() => void} */ then, /** @type {number} */ ms) => sleep(then, ms).unref());
const { calls, messages } = await import('../../console/core/app.js');
const { useLanguage } = await import('../../console/core/words.js');
const { takeBatch } = await import('../../console/components/scan.js');

await useLanguage('en');

const GTIN = '09506000134352';
const fields = ['batch', 'serials', 'qty'].map((name) => ({ name }));

/**
 * Scan into the field of the batch at a line of BOLT.
 *
 * @param {string} value
 * @param {any[]} products whose GTIN it is
 * @param {object} [meanwhile] what a person writes until the service answers
 */
async function scanned(value, products, meanwhile = {}) {
  let draft = { item_code: 'BOLT', batch: value };
  calls.read = /** @type {any} */ (async (/** @type {string} */ operation) => {
    draft = { ...draft, ...meanwhile };
    return { body: { data: operation.endsWith('/packaging') ? { gtins: [{ gtin: GTIN, units: 6 }], units: [] } : products } };
  });
  messages.value = [];
  let [filled, isSelected] = [/** @type {object | null} */ (null), false];
  const input = /** @type {any} */ ({ value, select: () => (isSelected = true), closest: () => null });
  const fill = (/** @type {object} */ parts) => (filled = parts);
  await takeBatch({ input, line: value, name: 'batch', path: '', fields, draftNow: () => draft, fill });
  return { filled, isSelected, said: messages.value.map(({ text }) => text) };
}

test('an element string fills the batch of its own product, and of no other one', async () => {
  const bolt = { id: 1, item_code: 'BOLT', barcode: GTIN };
  const label = `(01)${GTIN}(10)L1`;
  assert.deepEqual(await scanned(label, [bolt]), { filled: { batch: 'L1', qty: '6', unit: '' }, isSelected: false, said: [] });
  const other = await scanned(label, [{ ...bolt, item_code: 'NUT' }]);
  assert.deepEqual([other.filled, other.isSelected, other.said], [null, true, ['This is NUT, not the product of the line.']]);
  const unknown = await scanned(label, []);
  assert.deepEqual([unknown.filled, unknown.isSelected, unknown.said], [null, true, [`${GTIN}: Nothing matches.`]]);
});

test('what a person writes while the service is asked stays', async () => {
  const bolt = { id: 1, item_code: 'BOLT', barcode: GTIN };
  const of = async (/** @type {object} */ meanwhile) => (await scanned(`(01)${GTIN}(10)L1(21)S1`, [bolt], meanwhile)).filled;
  assert.deepEqual(await of({ batch: 'L2' }), { serials: 'S1', qty: '6', unit: '' });
  assert.deepEqual(await of({ qty: '5' }), { batch: 'L1', serials: 'S1' });
  assert.deepEqual(await of({ serials: 'S0' }), { batch: 'L1', serials: 'S0\nS1', qty: '6', unit: '' });
});

test('a label whose product cannot be asked for is no batch', async () => {
  let draft = { item_code: 'BOLT', batch: `(01)${GTIN}(10)L1` };
  calls.read = /** @type {any} */ (async () => {
    throw new TypeError('Failed to fetch');
  });
  const input = /** @type {any} */ ({ value: draft.batch });
  const fill = (/** @type {object} */ parts) => (draft = { ...draft, ...parts });
  const scan = { input, line: draft.batch, name: 'batch', path: '', fields, draftNow: () => draft, fill };
  await assert.rejects(takeBatch(scan));
  assert.equal(draft.batch, '');
});

test('a batch that is written stays, and an element string without a batch is none', async () => {
  assert.deepEqual(await scanned('L-1', []), { filled: {}, isSelected: false, said: [] });
  for (const label of [`(01)${GTIN}(17)270228`, `01${GTIN}10L117270228`]) {
    const { filled, isSelected, said } = await scanned(label, []);
    assert.deepEqual([filled, isSelected, said], [null, true, [`${label}: Nothing matches.`]]);
  }
});

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
const BOLT = { id: 1, item_code: 'BOLT', barcode: GTIN };
const fields = ['batch', 'serials', 'qty'].map((name) => ({ name }));

/**
 * Scan into the field of the batch at a line of BOLT.
 *
 * @param {string} value
 * @param {any[] | Error} products whose GTIN it is
 * @param {object} [meanwhile] what a person writes until the service answers
 */
async function scanned(value, products, meanwhile = {}) {
  const field = batchField();
  calls.read = /** @type {any} */ (async (/** @type {string} */ operation) => {
    field.write(meanwhile);
    if (products instanceof Error) {
      throw products;
    }
    return answer(operation, products);
  });
  messages.value = [];
  const reason = await field.scan(value).then(() => null, (error) => error);
  return /** @type {any} */ ({ ...field.filled(), said: messages.value.map(({ text }) => text), reason });
}

/** The field of a batch, and what a scan into it makes of its line. */
function batchField() {
  /** @type {Record<string, string>} */
  let draft = { item_code: 'BOLT', batch: '' };
  const input = /** @type {any} */ ({ value: '', closest: () => null });
  const write = (/** @type {object} */ parts) => {
    draft = { ...draft, ...parts };
    input.value = draft.batch;
  };
  const scan = (/** @type {string} */ typed) => {
    write({ batch: input.value + typed });
    const line = input.value;
    return takeBatch({ input, line, name: 'batch', path: '', fields, draftNow: () => draft, fill: write });
  };
  const filled = () => {
    const { item_code: _, ...parts } = draft;
    return parts;
  };
  return { write, scan, filled };
}

/**
 * @param {string} operation
 * @param {any[]} products
 */
function answer(operation, products) {
  return { body: { data: operation.endsWith('/packaging') ? { gtins: [{ gtin: GTIN, units: 6 }], units: [] } : products } };
}

test('an element string fills the batch of its own product, and of no other one', async () => {
  const label = `(01)${GTIN}(10)L1`;
  const done = { reason: null, said: [] };
  assert.deepEqual(await scanned(label, [BOLT]), { batch: 'L1', qty: '6', unit: '', ...done });
  const other = await scanned(label, [{ ...BOLT, item_code: 'NUT' }]);
  assert.deepEqual(other, { ...done, batch: '', said: ['This is NUT, not the product of the line.'] });
  assert.deepEqual(await scanned(label, []), { ...done, batch: '', said: [`${GTIN}: Nothing matches.`] });
});

test('what a person writes while the service is asked stays', async () => {
  const of = async (/** @type {object} */ meanwhile) => {
    const { batch, serials, qty } = await scanned(`(01)${GTIN}(10)L1(21)S1`, [BOLT], meanwhile);
    return { batch, serials, qty };
  };
  assert.deepEqual(await of({ batch: 'L2' }), { batch: 'L2', serials: 'S1', qty: '6' });
  assert.deepEqual(await of({ qty: '5' }), { batch: 'L1', serials: 'S1', qty: '5' });
  assert.deepEqual(await of({ serials: 'S0' }), { batch: 'L1', serials: 'S0\nS1', qty: '6' });
});

test('of two scans at once, the last one has the batch, and both have their serials', async () => {
  for (const order of [[0, 1], [1, 0]]) {
    /** @type {(() => void)[]} */
    const answers = [];
    calls.read = /** @type {any} */ (async (/** @type {string} */ operation) => {
      if (!operation.endsWith('/packaging')) {
        await new Promise((then) => answers.push(() => then(null)));
      }
      return answer(operation, [BOLT]);
    });
    const field = batchField();
    const scans = ['1', '2'].map((at) => field.scan(`(01)${GTIN}(10)L${at}(21)S${at}`));
    for (const at of order) {
      answers[at]?.();
      await scans[at];
    }
    const { batch, serials = '' } = field.filled();
    assert.deepEqual([batch, serials.split('\n').sort()], ['L2', ['S1', 'S2']]);
  }
});

test('a label whose product cannot be asked for is no batch', async () => {
  const { batch, reason } = await scanned(`(01)${GTIN}(10)L1`, new TypeError('Failed to fetch'));
  assert.equal(batch, '');
  assert.ok(reason instanceof TypeError);
});

test('a batch that is written stays, and an element string without a batch is none', async () => {
  assert.deepEqual(await scanned('L-1', []), { batch: 'L-1', said: [], reason: null });
  for (const label of [`(01)${GTIN}(17)270228`, `01${GTIN}10L117270228`]) {
    assert.deepEqual(await scanned(label, []), { batch: '', said: [`${label}: Nothing matches.`], reason: null });
  }
  const wrong = '(01)09506000134353(10)L1';
  assert.deepEqual(await scanned(wrong, []), { batch: '', said: [`This barcode has a mistake: ${wrong}`], reason: null });
});

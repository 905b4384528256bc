import assert from 'node:assert/strict';
import { test } from 'node:test';

import { NoAnswer, Refusal } from '../../console/core/refusal.js';

globalThis.document = /** @type {any} */ ({ baseURI: 'https://acme.test/api/v1/console/' });
const { calls } = await import('../../console/core/app.js');
const { useLanguage } = await import('../../console/core/words.js');
const { productNamed } = await import('../../console/components/product_search.js');

await useLanguage('en');

/** @param {string} written */
const chosen = (written) => productNamed(written, new AbortController().signal);

const GTIN = '09506000134352';
const CASE = '19506000134359';
const BOLT = { id: 1, item_code: 'BOLT', name: 'Hex bolt', barcode: GTIN };
const NUT = { id: 2, item_code: 'NUT', name: 'Hex nut', barcode: null };

calls.read = /** @type {any} */ (async (/** @type {string} */ operation, /** @type {any} */ { query = {}, parameters = {} }) => {
  if (operation === 'GET /products/{id}/packaging') {
    return { body: { data: { gtins: parameters.id === 2 ? [{ gtin: CASE, units: 12 }] : [], units: [] } } };
  }
  const is = (/** @type {any} */ row) =>
    query.search === undefined
      ? row.item_code === query.item_code || (row.barcode !== null && [query.barcode, query.gtin].includes(row.barcode)) || (row === NUT && query.gtin === CASE)
      : row.name.toLowerCase().includes(query.search.toLowerCase());
  const data = [BOLT, NUT].filter(is);
  return { body: { data, meta: { total: data.length } } };
});

test('a code, a barcode, a GTIN, an element string or the only name chooses a product', async () => {
  const named = await Promise.all([' BOLT ', GTIN, CASE, `(01)${GTIN}(10)L1`, 'hex nut', ''].map(chosen));
  assert.deepEqual(named, ['BOLT', 'BOLT', 'NUT', 'BOLT', 'NUT', '']);
});

test('what names several products or none chooses nothing, and says so', async () => {
  assert.deepEqual(await chosen('hex'), { problem: 'hex: Choose one that is suggested.' });
  assert.deepEqual(await chosen('wood'), { problem: 'wood: Nothing matches.' });
  assert.deepEqual(await chosen('(01)09506000134376'), { problem: '(01)09506000134376: Nothing matches.' });
  const wrong = '(01)09506000134353';
  assert.deepEqual(await chosen(wrong), { problem: `This barcode has a mistake: ${wrong}` });
});

test('an answer that comes after the person wanted something else chooses nothing', async () => {
  const stop = new AbortController();
  const found = productNamed('BOLT', stop.signal);
  stop.abort();
  assert.equal(await found, null);
});

test('what fails chooses nothing, and says why', async () => {
  const { read } = calls;
  const failures = [
    { error: new NoAnswer('cut'), problem: 'The service cannot be reached.' },
    { error: new Refusal(403, 'forbidden', 'No.'), problem: 'You have no permission for this. No.' },
    { error: new Refusal(429, 'rate_limited', 'Slow down.', { retryAfter: 40 }), problem: 'Too many requests. Slow down. Try again in 40 seconds.' },
  ];
  for (const { error, problem } of failures) {
    calls.read = () => Promise.reject(error);
    assert.deepEqual(await chosen('BOLT'), { problem });
    calls.read = /** @type {any} */ ((/** @type {any} */ operation, /** @type {any} */ options) =>
      options.query?.search === undefined ? read.call(calls, operation, options) : Promise.reject(error));
    assert.deepEqual(await chosen('hex nut'), { problem });
  }
});

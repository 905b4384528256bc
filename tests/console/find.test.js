import assert from 'node:assert/strict';
import { test } from 'node:test';

import { beside, isCalled, meant, questions } from '../../console/core/find.js';
import { useLanguage } from '../../console/core/words.js';
import { SUBJECT, SUBJECTS } from '../../console/subjects.js';

Object.assign(globalThis, { document: { baseURI: 'https://acme.test/api/v1/console/' }, addEventListener: () => undefined });
const { choicesOf } = await import('../../console/components/found.js');

await useLanguage('en');

/**
 * @param {string} written
 * @param {boolean} [isEntered]
 */
function asked(written, isEntered = true) {
  return questions(SUBJECTS, written, isEntered).map(({ subject, query }) => {
    const [[filter, value] = []] = Object.entries(query);
    return `${subject.name} ${filter}=${value}`;
  });
}

test('what is written is searched in every list, and exact values once it is complete', () => {
  const written = asked(' SO-77 ', false);
  assert.ok(written.includes('exit-documents search=SO-77'));
  assert.ok(written.every((one) => one.endsWith(' search=SO-77')));
  const entered = asked('SO-77').filter((one) => !written.includes(one));
  assert.deepEqual(entered, [
    'products barcode=SO-77', 'stocks batch=SO-77', 'stocks serial=SO-77',
    'pick-faces bin_code=SO-77', 'pick-faces item_code=SO-77', 'api-clients per_page=100', 'webhooks per_page=100',
  ]);
  assert.deepEqual(asked('S'), []);
});

test('a code of what has no search names its id', () => {
  assert.ok(asked('wv-0012', false).includes('waves ids=12'));
  assert.ok(asked('HU-7', false).includes('handling-units ids=7'));
  assert.ok(!asked('WV-0', false).some((one) => one.startsWith('waves')));
  const of = (/** @type {string} */ written) => asked(written, false).filter((one) => / ids?=/.test(one));
  assert.deepEqual(of('transfer 012'), ['transfers ids=12']);
  assert.deepEqual(of('Stock movement 7'), ['stock-movements ids=7']);
  assert.deepEqual([of('Order 7'), of('12'), of('Transfer 0')], [[], [], []]);
  const [comparison] = questions(SUBJECTS, 'RC-3', false).filter(({ id }) => id !== undefined);
  assert.deepEqual([comparison?.subject.name, comparison?.id], ['reconciliations', '3']);
});

test('a name with a number is that of the language of the screen, also without accents', async () => {
  await useLanguage('es');
  const of = (/** @type {string} */ written) => asked(written, false).filter((one) => / ids=/.test(one));
  assert.deepEqual([of('Recepción 7'), of('recepcion 7')], [['receipts ids=7'], ['receipts ids=7']]);
  await useLanguage('en');
});

test('a list without a search is asked for its rows, whose names are compared', () => {
  const named = questions(SUBJECTS, 'erp', true).filter((one) => one.named !== undefined);
  assert.deepEqual(named.map(({ subject, named }) => [subject.name, named]), [['api-clients', 'erp'], ['webhooks', 'erp']]);
  assert.ok(isCalled('https://ERP.test/hook', 'erp'));
  assert.ok(!isCalled('Shop', 'erp'));
});

test('a scan asks for what it names', () => {
  assert.deepEqual(asked('(00)340123450000000017'), ['handling-units sscc=340123450000000017']);
  const gtin = ['products gtin=04006381333931'];
  assert.deepEqual(asked('(01)04006381333931(10)LOT-7'), gtin);
  assert.deepEqual(asked('4006381333931').filter((one) => one.includes('gtin')), gtin);
  assert.ok(asked('4006381333931').includes('exit-documents search=4006381333931'));
  assert.deepEqual(asked('(01)04006381333932'), []);
});

/**
 * @param {string} name
 * @param {readonly Record<string, any>[]} rows
 */
function hits(name, ...rows) {
  const subject = /** @type {any} */ (SUBJECT.get(name));
  return { question: { subject, query: {}, isList: name === 'stocks' }, rows, total: rows.length };
}

/**
 * @param {string} written
 * @param {ReturnType<typeof hits>[]} found
 */
function opened(written, ...found) {
  const hit = meant(written, found);
  return hit && `${hit.subject.name} ${hit.row.id}`;
}

test('what alone has the value, or was found alone, is meant', () => {
  const order = hits('exit-documents', { id: 1, external_ref: 'SO-7' }, { id: 2, external_ref: 'SO-77' });
  const picking = hits('pickings', { id: 9, code: 'PKG-9', document: { external_ref: 'SO-7' } });
  assert.equal(opened('so-7', order, picking), 'exit-documents 1');
  assert.equal(opened('SO', order, picking), null);
  assert.equal(opened('SO', picking), 'pickings 9');
  assert.equal(opened('4006381333931', hits('products', { id: 3, barcode: '4006381333931' }), order), 'products 3');
  assert.equal(opened('SO-7', order, hits('entry-documents', { id: 4, external_ref: 'SO-7' })), null);
  assert.equal(opened('L-1', hits('stocks', { id: 5, batch_num: 'L-1' })), null);
  assert.equal(opened('L-1'), null);
  const inCases = hits('products', { id: 3, barcode: null });
  const byGtin = { ...inCases, question: { ...inCases.question, query: { gtin: '14006381333938' } } };
  assert.equal(opened('14006381333938', byGtin, order), 'products 3');
  const transfer = hits('transfers', { id: 7 });
  const byId = { ...transfer, question: { ...transfer.question, query: { ids: '7' } } };
  assert.equal(opened('Transfer 7', byId, order), 'transfers 7');
});

test('a row shows its reference and texts of its columns', () => {
  const picking = /** @type {any} */ (SUBJECT.get('pickings'));
  const row = { code: 'PKG-9', status: 'started', document: { doc_num: 'EX-1', external_ref: 'SO-7' }, created_at: 'x' };
  assert.deepEqual(beside(picking, row).map(({ value }) => value), ['started', 'EX-1 SO-7']);
});

test('the link to all says how many rows its list has', () => {
  const all = (/** @type {string} */ name, /** @type {object} */ own) => {
    const found = hits(name, ...Array.from({ length: 5 }, (_, id) => ({ id })));
    return choicesOf({ ...found, ...own }).at(-1);
  };
  assert.equal(all('products', { total: 7 })?.title, 'All 7');
  assert.equal(all('webhooks', { total: 7, listed: 20 })?.title, 'All 20');
});

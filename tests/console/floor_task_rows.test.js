import assert from 'node:assert/strict';
import { test } from 'node:test';

import { NoAnswer, Refusal } from '../../console/core/refusal.js';
import { kindOf } from '../../console/floor/kinds.js';
import { codesOf, namedTasks, readTasks } from '../../console/floor/task_rows.js';

/** @typedef {{operation: string, query: Record<string, any>}} Asked */

/** @param {(asked: Asked) => any[]} rowsOf throws what the service refuses */
function service(rowsOf, last = 1) {
  /** @type {Asked[]} */
  const asked = [];
  const read = async (/** @type {string} */ operation, /** @type {any} */ { query }) => {
    asked.push({ operation, query });
    return { body: { data: rowsOf({ operation, query }), meta: { last_page: last } } };
  };
  return { asked, calls: /** @type {any} */ ({ read }) };
}

const signal = new AbortController().signal;
const every = () => true;

test('tasks are read by pages, as many as somebody asks for', async () => {
  const { asked, calls } = service(({ query }) => [{ id: query['page'] }], 3);
  const read = async (/** @type {number} */ pages) => {
    const { rows, isMore } = await readTasks(calls, kindOf('counts/1'), pages, signal);
    return [rows.map(({ id, kind }) => `${kind}/${id}`), isMore];
  };
  assert.deepEqual(await read(1), [['counts/1'], true]);
  assert.deepEqual(await read(3), [['counts/1', 'counts/2', 'counts/3'], false]);
  asked.length = 0;
  assert.deepEqual(await read(9), [['counts/1', 'counts/2', 'counts/3'], false]);
  assert.equal(asked.length, 3);
});

test('tasks come by priority, by the day on which they are due, and by wave', async () => {
  const rows = [
    { id: 1 },
    { id: 2, wave_id: 4 },
    { id: 3, due_date: '2026-03-09' },
    { id: 4, due_date: '2026-03-02', wave_id: 9 },
    { id: 5, due_date: '2026-03-02', wave_id: 7 },
    { id: 6, priority: 1, due_date: '2026-04-01' },
    { id: 7, priority: 3, due_date: '2026-01-01' },
  ];
  const { calls } = service(() => rows);
  const found = await readTasks(calls, kindOf('pickings/1'), 1, signal);
  assert.deepEqual(found.rows.map(({ id }) => id), [6, 5, 4, 3, 2, 1, 7]);
});

test('work of transfer orders is no task of its own', async () => {
  const { calls } = service(() => [{ id: 1, document: { type: 'transfer_order', doc_num: 'TO-1' } }]);
  assert.deepEqual((await readTasks(calls, kindOf('pickings/1'), 1, signal)).rows, []);
  assert.deepEqual(await namedTasks(calls, 'TO-1', ({ name }) => name === 'pickings'), []);
});

test('a list whose module is switched off has no tasks; other refusals are shown', async () => {
  const refusing = (/** @type {Error} */ error) =>
    service(() => {
      throw error;
    }).calls;
  const off = refusing(new Refusal(403, 'transfer_orders_disabled', 'Off.'));
  assert.deepEqual((await readTasks(off, kindOf('transfer-orders/1'), 1, signal)).rows, []);
  const wrong = refusing(new Refusal(422, 'validation_failed', 'search: too long'));
  assert.deepEqual(await namedTasks(wrong, '???', every), []);
  for (const error of [new Refusal(500, 'internal_error', 'No.'), new NoAnswer(null)]) {
    await assert.rejects(readTasks(refusing(error), kindOf('receipts/1'), 1, signal), error);
  }
});

test('a scan names tasks by a whole number or reference, and only those that can be worked on', async () => {
  const document = { type: 'sale_order', doc_num: 'EX-12', external_ref: 'SO-7' };
  const { asked, calls } = service(({ operation }) => {
    return operation === 'GET /pickings' ? [{ id: 1, document }, { id: 2, document: { ...document, doc_num: 'EX-123' } }] : [];
  });
  const found = async (/** @type {string} */ text) => (await namedTasks(calls, text, every)).map(({ id }) => id);
  assert.deepEqual(await found(' ex-12 '), [1]);
  assert.deepEqual(await found('SO-7'), [1, 2]);
  assert.deepEqual(await found('EX-1'), []);
  assert.equal(asked[0]?.query['status'], 'pending,started');
  assert.equal(asked[0]?.query['search'], 'ex-12');
  assert.deepEqual([...new Set(asked.map(({ operation }) => operation))], ['GET /receipts', 'GET /pickings', 'GET /transfer-orders']);
  asked.length = 0;
  assert.deepEqual(await namedTasks(calls, 'SO-7', ({ name }) => name === 'receipts'), []);
  assert.equal(asked.length, 1);
});

test('the codes of a task are its own, and those of its document', () => {
  const document = { doc_num: 'EX-1', external_ref: 'so-1' };
  assert.deepEqual(codesOf({ code: 'PKG-1', document }), ['PKG-1', 'EX-1', 'SO-1']);
  assert.deepEqual(codesOf({ code: 'PK-1', exit_doc_num: 'EX-2' }), ['PK-1', 'EX-2']);
  assert.deepEqual(codesOf({ external_ref: 'TO 9' }), ['TO 9']);
});

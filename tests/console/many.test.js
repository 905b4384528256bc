import assert from 'node:assert/strict';
import { test } from 'node:test';

globalThis.document = /** @type {any} */ ({ baseURI: 'https://acme.test/api/v1/console/' });
const { endOf, Requests, unfitting } = await import('../../console/core/many.js');
const { NoAnswer, Refusal } = await import('../../console/core/refusal.js');
const { SUBJECT } = await import('../../console/subjects.js');

const ROWS = [{ id: 1 }, { id: 2 }, { id: 3 }];

/**
 * Send a request for each row, and again for those that are not done.
 *
 * @param {unknown} error of the first request for the second row
 */
async function sentTwice(error) {
  const requests = new Requests();
  /** @type {[number, string][]} */
  const sent = [];
  let isRefused = true;
  const send = () =>
    requests.send(
      ROWS.filter(({ id }) => sent.length === 0 || id > 1),
      'start',
      async ({ id }, key) => {
        sent.push([id, key]);
        if (id === 2 && isRefused) {
          isRefused = false;
          throw error;
        }
        return { body: { data: { id, status: 'started' } } };
      },
      () => undefined,
    );
  return { first: await send(), second: await send(), sent };
}

test('a refusal of one row does not keep the others from being done', async () => {
  const { first, sent } = await sentTwice(new Refusal(409, 'conflict', 'It is started.'));
  assert.deepEqual(first.map((one) => 'made' in one), [true, false, true]);
  assert.equal(endOf(first.slice(0, 2)), undefined);
  const keys = sent.filter(([id]) => id === 2).map(([, key]) => key);
  assert.notEqual(keys[0], keys[1]);
});

test('an unknown outcome ends it, and the same request is sent again', async () => {
  const { first, second, sent } = await sentTwice(new NoAnswer(new TypeError()));
  assert.deepEqual(first.map((one) => 'made' in one), [true, false]);
  assert.ok(endOf(first) instanceof NoAnswer);
  assert.deepEqual(second.map((one) => 'made' in one), [true, true]);
  const keys = sent.filter(([id]) => id === 2).map(([, key]) => key);
  assert.equal(keys[0], keys[1]);
});

test('nothing more is sent when the limit of requests is reached', async () => {
  const { first } = await sentTwice(new Refusal(429, 'rate_limited', 'Too many requests.'));
  assert.equal(first.length, 2);
  assert.ok(endOf(first) instanceof Refusal);
});

test('a wave has no orders of another warehouse', () => {
  const orders = ['N', 'S', 'N'].map((whs_code, id) => ({ id, lines: [{ whs_code }] }));
  const [wave] = SUBJECT.get('exit-documents')?.together ?? [];
  assert.ok(wave);
  assert.deepEqual(unfitting(wave, orders, { warehouse_code: 'N' }), [orders[1]]);
  const [ofPickings] = SUBJECT.get('pickings')?.together ?? [];
  assert.ok(ofPickings);
  assert.deepEqual(unfitting(ofPickings, orders, { warehouse_code: 'N' }), []); // the service says it at once
});

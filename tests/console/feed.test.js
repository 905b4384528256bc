import assert from 'node:assert/strict';
import { test } from 'node:test';

globalThis.document = /** @type {any} */ ({ baseURI: 'https://acme.test/api/v1/console/' });
const { calls } = await import('../../console/core/app.js');
const { latestTransactions } = await import('../../console/core/feed.js');
const { Refusal } = await import('../../console/core/refusal.js');

/**
 * Answer calls as a feed that ends at `end` and of which the entries from `kept` on have not expired.
 *
 * @param {number} end
 * @param {number} kept
 */
function feedOf(end, kept) {
  const sent = { requests: 0 };
  calls.read = /** @type {any} */ (async (/** @type {string} */ operation, /** @type {any} */ { query }) => {
    sent.requests += 1;
    if (operation === 'GET /changes/latest') {
      return { body: { data: { position: end, epoch: 7 } } };
    }
    const { after, per_page: size } = query;
    if (after < end && after + 1 < kept) {
      throw new Refusal(410, 'gone', 'deleted after 92 days');
    }
    const last = Math.min(after + size, end);
    const data = Array.from({ length: last - after }, (_, index) => ({ position: after + 1 + index, changes: [] }));
    return { body: { data, meta: { last } } };
  });
  return sent;
}

for (const { name, end, kept, first } of [
  { name: 'a company whose older transactions have expired', end: 5000, kept: 3502, first: 3502 },
  { name: 'a company with few transactions', end: 1200, kept: 600, first: 600 },
  { name: 'a company of which the last one is kept', end: 1200, kept: 1200, first: 1200 },
  { name: 'a company of which everything is kept', end: 1200, kept: 1, first: 1 },
  { name: 'a busy company', end: 90_000, kept: 20_000, first: 88_001 },
]) {
  test(`all transactions that are kept are searched: ${name}`, async () => {
    const sent = feedOf(end, kept);
    const found = await latestTransactions('product');
    assert.deepEqual([found[0]?.position, found.at(-1)?.position], [first, end]);
    assert.equal(found.length, end - first + 1);
    assert.ok(sent.requests <= 18, `${sent.requests} requests`);
  });
}

test('a company that was quiet for 92 days has none', async () => {
  feedOf(1200, 1201);
  assert.deepEqual(await latestTransactions('product'), []);
});

test('another refusal is shown', async () => {
  const { status } = new Refusal(503, 'unavailable', 'The feed is late.');
  calls.read = /** @type {any} */ (async (/** @type {string} */ operation) => {
    if (operation === 'GET /changes/latest') {
      return { body: { data: { position: 3, epoch: 7 } } };
    }
    throw new Refusal(status, 'unavailable', 'The feed is late.');
  });
  await assert.rejects(latestTransactions('product'), { status: 503 });
});

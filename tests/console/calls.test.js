import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Action, Calls, pathOf, queryText } from '../../console/core/calls.js';
import { operationOf, parametersOf } from '../../console/core/request.js';
import { isNotOffered, isUnknown, NoAnswer, Refusal, refusalOf, SessionEnded } from '../../console/core/refusal.js';
import { answer, BROKEN, FakeBrowser, granted, refused, signedInSession } from './service.js';

/** @param {(Response | Error)[]} answers */
async function prepared(...answers) {
  const browser = new FakeBrowser(...answers);
  const calls = new Calls(await signedInSession(browser), browser);
  const action = new Action(browser);
  browser.keys = 1;
  const start = () =>
    action.run((key) => calls.write('POST /receipts/{id}/start', { key, parameters: { id: 3 } }));
  return { browser, calls, action, start };
}

const keysOf = (/** @type {FakeBrowser} */ browser) =>
  browser.sent.map(({ headers }) => headers['Idempotency-Key']);

test('a read has the token, the path and the query', async () => {
  const { browser, calls } = await prepared(answer(200, { data: [] }, { ETag: '"1"' }));
  const query = { search: 'a b', page: 2, status: '', sort: null };
  const { body, etag } = await calls.read('GET /products', { query });
  assert.deepEqual(body, { data: [] });
  assert.equal(etag, '"1"');
  assert.equal(browser.sent[0]?.url, 'https://acme.test/v1/products?search=a+b&page=2');
  assert.match(browser.sent[0]?.headers.Authorization ?? '', /^Bearer e30\./);
});

test('a write has its key, its body and the ETag that must still hold', async () => {
  const { browser, calls } = await prepared(answer(200, { data: {} }));
  const body = { name: 'Box' };
  const sent = { key: 'k', parameters: { id: 'a/b' }, body, etag: '"5"' };
  await calls.write('PATCH /products/{id}', sent);
  const [request] = browser.sent;
  assert.equal(request?.method, 'PATCH');
  assert.equal(request?.url, 'https://acme.test/v1/products/a%2Fb');
  assert.equal(request?.headers['Idempotency-Key'], 'k');
  assert.equal(request?.headers['If-Match'], '"5"');
  assert.equal(request?.body, '{"name":"Box"}');
});

test('an action without an answer is repeated with the same key', async () => {
  const { browser, action, start } = await prepared(BROKEN, BROKEN, answer(200, { data: {} }));
  await start();
  assert.deepEqual(keysOf(browser), ['key-1', 'key-1', 'key-1']);
  assert.deepEqual(browser.waits, [1.5, 2.5]);
  assert.equal(action.isOpen, false);
  assert.equal(action.key, 'key-2');
});

test('an action whose attempts all had no answer keeps its key for the next click', async () => {
  const { browser, action, start } = await prepared(
    ...[BROKEN, BROKEN, BROKEN, BROKEN],
    answer(200, { data: {} }),
  );
  await assert.rejects(start(), NoAnswer);
  assert.equal(action.isOpen, true);
  await start();
  assert.deepEqual(new Set(keysOf(browser)), new Set(['key-1']));
});

test('an answer that breaks off, or is no answer of the service, is none', async () => {
  const broken = new ReadableStream({ start: (controller) => controller.error(BROKEN) });
  const portal = new Response('<html>Sign in to the network', { status: 200 });
  const { browser, start } = await prepared(new Response(broken), portal, answer(200, { data: {} }));
  assert.deepEqual((await start()).body, { data: {} });
  assert.deepEqual(keysOf(browser), ['key-1', 'key-1', 'key-1']);
});

test('what a gateway or a server error refused may have been carried out', async () => {
  const undecided = [new NoAnswer(BROKEN)];
  for (const status of [500, 502, 503, 504, 520]) {
    undecided.push(await refusalOf(new Response('', { status })));
  }
  undecided.push(await refusalOf(refused(409, 'duplicate_in_flight')));
  assert.deepEqual(undecided.map(isUnknown), undecided.map(() => true));
  assert.ok(undecided.every(({ message }) => message !== ''));
  for (const [status, code] of /** @type {const} */ ([[409, 'conflict'], [422, 'x'], [429, 'y']])) {
    assert.equal(isUnknown(await refusalOf(refused(status, code))), false);
  }
  assert.equal(isUnknown(new SessionEnded()), false);
});

test('what the service asks to repeat is repeated after the time that it names', async () => {
  const { browser, start } = await prepared(
    refused(429, 'rate_limited', { 'Retry-After': '7' }),
    refused(503, 'service_unavailable'),
    refused(409, 'duplicate_in_flight', { 'Retry-After': '1' }),
    answer(200, { data: {} }),
  );
  await start();
  assert.deepEqual(browser.waits, [7.5, 2.5, 1.5]);
  assert.deepEqual(new Set(keysOf(browser)), new Set(['key-1']));
});

test('a limit does not hide that an attempt before it had no answer', async () => {
  const { action, start } = await prepared(
    BROKEN,
    refused(429, 'rate_limited', { 'Retry-After': '60' }),
  );
  await assert.rejects(start(), NoAnswer);
  assert.equal(action.isOpen, true);
});

test('nobody waits for minutes without being asked', async () => {
  const { browser, start } = await prepared(
    refused(429, 'rate_limited', { 'Retry-After': '900' }),
  );
  await assert.rejects(start(), { code: 'rate_limited', retryAfter: 900 });
  assert.deepEqual(browser.waits, []);
});

test('a refusal is not repeated, and the next click is a new action', async () => {
  const problems = [{ field: 'qty', message: 'Too much.' }];
  const error = { code: 'validation_failed', message: 'Too much.', field: 'qty' };
  const { browser, start } = await prepared(
    answer(422, { error, errors: problems, message: 'Too much.' }, { 'X-Request-Id': 'r-9' }),
    answer(200, { data: {} }),
  );
  await assert.rejects(start(), (refusal) => {
    assert.ok(refusal instanceof Refusal);
    assert.deepEqual(refusal.problems, problems);
    assert.equal(refusal.requestId, 'r-9');
    return true;
  });
  await start();
  assert.deepEqual(keysOf(browser), ['key-1', 'key-2']);
});

test('an answer that is no envelope is a refusal, too', async () => {
  const page = new Response('<html>', { status: 403, statusText: 'Forbidden' });
  const { start } = await prepared(page);
  await assert.rejects(start(), { status: 403, code: 'http_403', message: 'Forbidden' });
});

test('a list of a module that is off, or outside of the plan, is not offered', () => {
  const isOffered = (/** @type {number} */ status, /** @type {string} */ code) =>
    !isNotOffered(new Refusal(status, code, 'No.'));
  assert.ok(!isOffered(404, 'transfer_orders_disabled'));
  assert.ok(!isOffered(402, 'feature_not_in_plan'));
  assert.ok(!isOffered(403, 'client_not_allowed'));
  assert.ok(isOffered(402, 'tenant_suspended'));
  assert.ok(isOffered(429, 'rate_limited'));
  assert.ok(!isNotOffered(new NoAnswer(null)));
});

test('a refused token is renewed once, and the request repeated with the same key', async () => {
  const { browser, start } = await prepared(
    refused(401, 'unauthenticated'),
    granted('second'),
    answer(200, { data: {} }),
  );
  await start();
  assert.deepEqual(
    browser.sent.map(({ url }) => url.split('/v1')[1]),
    ['/receipts/3/start', '/oauth/token', '/receipts/3/start'],
  );
  assert.equal(keysOf(browser)[0], keysOf(browser)[2]);

  const again = await prepared(
    refused(401, 'unauthenticated'),
    granted('second'),
    refused(401, 'unauthenticated'),
  );
  await assert.rejects(again.start(), { status: 401 });
});

test('a session that ended during an action leaves the action open', async () => {
  const { action, start } = await prepared(
    refused(401, 'unauthenticated'),
    answer(400, { error: 'invalid_grant' }),
  );
  await assert.rejects(start(), SessionEnded);
  assert.equal(action.isOpen, true);
});

test('paths and queries are encoded', () => {
  assert.equal(pathOf('GET /products/{id}', { id: '../x?' }), '/products/..%2Fx%3F');
  assert.throws(() => pathOf('GET /products/{id}', {}), /needs id/);
  assert.deepEqual(parametersOf('GET /products/{id}', '/products/..%2Fx%3F'), { id: '../x?' });
  const named = parametersOf('POST /webhooks/{id}/deliveries/{delivery}/redeliver', '/webhooks/1/deliveries/2/redeliver');
  assert.deepEqual(named, { id: '1', delivery: '2' });
  assert.equal(queryText({}), '');
  assert.equal(queryText({ a: 0, b: false, c: undefined }), '?a=0&b=false');
});

test('a request leads to its operation', () => {
  const operations = ['POST /receipts', 'POST /receipts/{id}/lines', 'POST /receipts/{id}/start'];
  const request = { method: 'POST', path: '/receipts/4/lines' };
  assert.equal(operationOf(operations, request), 'POST /receipts/{id}/lines');
  assert.equal(operationOf(operations, { ...request, method: 'PUT' }), undefined);
  assert.equal(operationOf(operations, { method: 'POST', path: '/receipts/4' }), undefined);
});

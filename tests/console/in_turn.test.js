import assert from 'node:assert/strict';
import { test } from 'node:test';

import { inTurn } from '../../console/core/in_turn.js';

test('each write has the ETag that the one before left, and a repetition goes on with the one that failed', async () => {
  /** @type {[string, string | null][]} */
  const sent = [];
  const answers = [{ etag: '"2"' }, null, { etag: '"3"' }, { etag: '"4"' }];
  const carryOut = async (/** @type {string} */ body, /** @type {string | null} */ etag) => {
    sent.push([body, etag]);
    return answers.shift();
  };
  const send = inTurn(['first', 'second', 'third'], '"1"');
  assert.equal(await send(carryOut), null);
  assert.deepEqual(await send(carryOut), { etag: '"4"' });
  assert.deepEqual(sent, [
    ['first', '"1"'],
    ['second', '"2"'],
    ['second', '"2"'],
    ['third', '"3"'],
  ]);
});

test('a write without a body is sent once', async () => {
  assert.deepEqual(await inTurn([undefined], null)(async () => ({ etag: null })), { etag: null });
});

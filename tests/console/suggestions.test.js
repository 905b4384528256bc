import assert from 'node:assert/strict';
import { test } from 'node:test';

import { NoAnswer, Refusal } from '../../console/core/refusal.js';

globalThis.document = /** @type {any} */ ({ baseURI: 'https://acme.test/api/v1/console/' });
const { calls } = await import('../../console/core/app.js');
const { rowsOf } = await import('../../console/components/suggestions.js');

test('only who may not read a list writes ids: without an answer, a number is none', async () => {
  const source = { list: 'exit-documents', choiceOf: () => ({ value: '', name: '', more: '' }) };
  const isRefused = async (/** @type {Error} */ error) => {
    calls.read = async () => {
      throw error;
    };
    return (await rowsOf(source, '1012', undefined, new AbortController().signal)).isRefused;
  };
  assert.equal(await isRefused(new Refusal(403, 'forbidden', 'No.')), true);
  assert.equal(await isRefused(new Refusal(429, 'rate_limited', 'Later.')), false);
  assert.equal(await isRefused(new Refusal(500, 'internal_error', 'No.')), false);
  assert.equal(await isRefused(new NoAnswer('cut')), false);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';

import './floor_page.js';

const { inTurn, result } = await import('../../console/floor/scanning.js');

/** @param {() => unknown} work */
async function said(work) {
  inTurn(work);
  await new Promise((resolve) => inTurn(() => resolve(undefined)));
  return result.value;
}

test('what was not done says why, and what comes after it is done', async () => {
  for (const [error, text] of /** @type {const} */ ([
    [new DOMException('Full.', 'QuotaExceededError'), /storage of the device is full/],
    [new DOMException('The database is closing.', 'InvalidStateError'), /keeps nothing \(InvalidStateError: The database/],
    [new TypeError('x is undefined'), /not done: TypeError: x is undefined/],
  ])) {
    const shown = await said(() => {
      throw error;
    });
    assert.equal(shown?.isRight, false);
    assert.match(shown?.text ?? '', text);
  }
});

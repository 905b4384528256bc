import assert from 'node:assert/strict';
import { test } from 'node:test';

globalThis.document = /** @type {any} */ ({ baseURI: 'https://acme.test/api/v1/console/' });
const { importantFirst } = await import('../../console/components/table.js');

/** @param {string} names */
const ordered = (names) => {
  const columns = names.split(' ').map((name) => ({ name, type: /** @type {const} */ ('text') }));
  return importantFirst(columns).map(({ name }) => name).join(' ');
};

test('a narrow table begins with what names its rows, then status and quantity', () => {
  assert.equal(ordered('code created_at status'), 'code status created_at');
  assert.equal(ordered('line_num item_code product_name qty status'), 'item_code qty status line_num product_name');
  assert.equal(ordered('line_num message'), 'line_num message');
  assert.equal(ordered('created_at item_code qty'), 'created_at qty item_code');
});

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { href, parse } from '../../console/core/address.js';

const BASE = 'https://acme.test/stage/v1/console/';

test('an address and its parts are the same', () => {
  const path = ['webhooks', '4', 'deliveries'];
  const query = { status: 'failed', search: 'ä/&?' };
  assert.deepEqual(parse(new URL(href(path, query), BASE).href, BASE), { path, query });
  assert.deepEqual(parse(new URL(href([]), BASE).href, BASE), { path: [], query: {} });
});

test('empty values are left out, and codes are encoded', () => {
  assert.equal(href(['stocks'], { item_code: '', page: null, sort: undefined }), 'stocks');
  assert.equal(href(['a/b', 'ñ']), 'a%2Fb/%C3%B1');
});

test('an address that cannot be decoded is kept as it is', () => {
  assert.deepEqual(parse(`${BASE}products/%E0%A4%A`, BASE).path, ['products', '%E0%A4%A']);
});

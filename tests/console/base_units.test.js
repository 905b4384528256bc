import assert from 'node:assert/strict';
import { test } from 'node:test';

import { inBaseUnits } from '../../console/core/base_units.js';

/** A service with a product of which 12 are in a box, and 5.5 in a bag. */
const CALLS = /** @type {any} */ ({
  read: async (/** @type {string} */ operation, /** @type {any} */ { query }) => {
    if (operation === 'GET /products/{id}/packaging') {
      const gtins = [{ gtin: '19520001069540', units: 12 }];
      return { body: { data: { gtins, units: [{ unit: 'BOX', qty: 12 }, { unit: 'BAG', qty: 5.5 }] } } };
    }
    const isKnown = query.item_code === 'A' || ['19520001069540', '9520001069543'].includes(query.gtin);
    return { body: { data: isKnown ? [{ id: 7, item_code: 'A' }] : [] } };
  },
});

test('goods that are named by a GTIN, or counted in a unit, are counted in units of the product', async () => {
  const of = (/** @type {object} */ goods) => inBaseUnits(CALLS, goods);
  assert.deepEqual(await of({ gtin: '19520001069540', qty: 2 }), { item_code: 'A', qty: 24 });
  assert.deepEqual(await of({ gtin: '9520001069543', qty: 2 }), { item_code: 'A', qty: 2 });
  assert.deepEqual(await of({ item_code: 'A', unit: 'bag', qty: 0.1 }), { item_code: 'A', qty: 0.55 });
});

test('what the service does not know stays as it is: it names the field', async () => {
  for (const goods of [
    { gtin: '1', qty: 2 },
    { item_code: 'A', unit: 'PALLET', qty: 2 },
    { item_code: 'A', unit: 'BOX', qty: 'x' },
  ]) {
    assert.deepEqual(await inBaseUnits(CALLS, goods), goods);
  }
});

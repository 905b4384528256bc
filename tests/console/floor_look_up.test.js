import assert from 'node:assert/strict';
import { test } from 'node:test';

import { readLabel } from '../../console/floor/goods.js';
import { lookUp } from '../../console/floor/look_up.js';

const BOLT = { id: 3, item_code: 'BOLT', name: 'Bolt', barcode: 'BOLT 8', man_btch_num: false, man_ser_num: false };

const calls = /** @type {any} */ ({
  /**
   * @param {string} operation
   * @param {{query?: Record<string, any>}} options
   */
  read: async (operation, { query = {} }) => {
    if (operation === 'GET /handling-units') {
      return { body: { data: query.sscc === '395060001343500003' ? [{ id: 5, code: 'HU-5' }] : [] } };
    }
    if (operation !== 'GET /products') {
      return { body: { data: operation.includes('packaging') ? { gtins: [] } : [] } };
    }
    const values = { ...BOLT, gtin: '04006381333931' };
    const names = /** @type {const} */ (['item_code', 'barcode', 'gtin']);
    const isFound = names.every((name) => query[name] === undefined || query[name] === values[name]);
    return { body: { data: isFound ? [BOLT] : [] } };
  },
});

/** @param {string} text */
const found = async (text) => {
  const { products } = await lookUp(calls, readLabel(text), 'CEN');
  return products.map(({ item_code }) => item_code);
};

test('a product is found by its code and its barcode, and none by another GTIN', async () => {
  assert.deepEqual(await found('BOLT'), ['BOLT']);
  assert.deepEqual(await found('BOLT 8'), ['BOLT']);
  assert.deepEqual(await found('04006381333931'), ['BOLT']);
  assert.deepEqual(await found('(01)04006381333931(10)L1'), ['BOLT']);
  assert.deepEqual(await found('9506000134352'), []);
});

test('an SSCC finds its handling unit, whose label may say more', async () => {
  const units = async (/** @type {string} */ text) => (await lookUp(calls, readLabel(text), null)).units.map(({ code }) => code);
  assert.deepEqual(await units('00395060001343500003'), ['HU-5']);
  assert.deepEqual(await units(']C100395060001343500003'), ['HU-5']);
  assert.deepEqual(await units('(00)340123450000000017'), [], 'of another company');
});

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { scannedParts, scannedQty } from '../../console/core/scanned.js';

const READ = { gtin: '04006381333931', batch: 'L7', serial: 'S2', expires: '2027-03-31' };

test('a scan fills batch, date of expiry and serial number where there are fields for them', () => {
  assert.deepEqual(scannedParts(READ, ['item_code', 'qty'], {}), {});
  assert.deepEqual(scannedParts(READ, ['batch', 'expiry_date', 'serial'], {}), {
    batch: 'L7', expiry_date: '2027-03-31', serial: 'S2',
  });
  assert.deepEqual(scannedParts({ gtin: READ.gtin }, ['batch', 'serials'], { batch: 'L1' }), {});
});

test('serial numbers of several scans stand below each other, each once', () => {
  const serials = (/** @type {string} */ before) => scannedParts(READ, ['serials'], { serials: before }).serials;
  assert.equal(serials(''), 'S2');
  assert.equal(serials('S1'), 'S1\nS2');
  assert.equal(serials('S1\nS2'), 'S1\nS2');
  assert.equal(scannedParts(READ, ['batch_num', 'expected_series'], {}).expected_series, 'S2');
});

test('the quantity is that of the scan or of a pack in base units, and left open for a piece', () => {
  assert.deepEqual(scannedQty(READ, 1, ['qty', 'unit']), {});
  assert.deepEqual(scannedQty(READ, 12, ['qty', 'unit']), { qty: '12', unit: '' });
  assert.deepEqual(scannedQty({ ...READ, units: 1 }, 1, ['counted_qty']), { counted_qty: '1', unit: '' });
  assert.deepEqual(scannedQty(READ, 12, ['batch']), {});
});

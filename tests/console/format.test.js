import assert from 'node:assert/strict';
import { test } from 'node:test';

import { csvRow, formatDate, formatInstant, formatNumber } from '../../console/core/format.js';

const english = { language: 'en', timeZone: 'America/New_York' };
const spanish = { language: 'es', timeZone: 'Europe/Madrid' };

test('numbers are written as the language writes them, with all decimals', () => {
  assert.equal(formatNumber(12345.678901, english), '12,345.678901');
  assert.equal(formatNumber(12345.5, spanish), '12.345,5');
});

test('a date has no time zone, an instant that of the company', () => {
  assert.equal(formatDate('2026-03-01', english), 'Mar 1, 2026');
  assert.match(formatInstant('2026-03-01T02:30:00.000Z', english), /^Feb 28, 2026, 9:30\sPM$/);
  assert.match(formatInstant('2026-03-01T23:30:00.000Z', spanish), /^2 mar 2026, 0:30$/);
  assert.equal(formatDate('soon', english), 'soon');
  assert.equal(formatInstant('soon', english), 'soon');
});

test('a CSV row quotes what needs it, and runs no formula', () => {
  assert.equal(csvRow(['a,b', 'say "x"', null, 3, -4, true]), '"a,b","say ""x""",,3,-4,true\r\n');
  assert.equal(csvRow(['=1+1', '-x', '@a', '+b']), "'=1+1,'-x,'@a,'+b\r\n");
  assert.equal(csvRow([{ id: 1 }]), '"{""id"":1}"\r\n');
});

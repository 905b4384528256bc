import assert from 'node:assert/strict';
import { test } from 'node:test';

import { csvFile, csvRow, formatDate, formatInstant, formatNumber } from '../../console/core/format.js';
import { postalLines } from '../../console/core/postal.js';

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
  assert.equal(formatDate('2026-03-01', { ...english, language: 'en-GB' }), '1 Mar 2026');
  assert.equal(formatDate('soon', english), 'soon');
  assert.equal(formatInstant('soon', english), 'soon');
});

test('a CSV row quotes what needs it, and runs no formula', () => {
  const row = csvRow(['a,b', 'say "x"', null, 3, -4, true]);
  assert.equal(row, '"a,b"\t"say ""x"""\t\t3\t-4\ttrue\r\n');
  assert.equal(csvRow(['=1+1', '-x', '@a', '+b', '＝1']), "'=1+1\t'-x\t'@a\t'+b\t'＝1\r\n");
  assert.equal(csvRow(['a;=1+1', 'b,＠c', 'd\t-1', 'A-1']), `"a;'=1+1"\t"b,'＠c"\t"d\t'-1"\tA-1\r\n`);
  assert.equal(csvRow([{ id: 1 }]), '"{""id"":1}"\r\n');
});

test('a CSV file is UTF-16 with a mark, which spreadsheets separate by tabs in every region', () => {
  const file = csvFile([['código', '𝔘'], [1, 'b']]);
  assert.equal(file.getUint16(0), 0xfffe);
  assert.equal(new TextDecoder('utf-16le').decode(file), 'código\t𝔘\r\n1\tb\r\n');
});

test('an address has its lines in the order in which people write them', () => {
  const address = {
    name: 'Ana Ruiz', company: 'Obras SA', line1: 'Calle Mayor 1', line2: null, city: 'Madrid',
    state: 'MD', zip_code: '28001', country: 'ES', phone: '910', email: 'ana@example.com',
  };
  assert.deepEqual(postalLines(address, 'en'), [
    'Obras SA', 'Ana Ruiz', 'Calle Mayor 1', '28001 Madrid, MD', 'Spain', '910, ana@example.com',
  ]);
  assert.deepEqual(postalLines({ country: 'ES', city: null }, 'es'), ['España']);
});

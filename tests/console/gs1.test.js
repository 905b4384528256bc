import assert from 'node:assert/strict';
import { test } from 'node:test';

import { hasCheckDigit, readScan } from '../../console/core/gs1.js';

const GS = '\u001d';
const TODAY = new Date('2026-11-30T12:00:00Z');
/** @param {string} text */
const read = (text) => readScan(text, TODAY);

test('a plain GTIN of each length becomes one of 14 digits', () => {
  assert.deepEqual(read('9506000134352'), { gtin: '09506000134352' });
  assert.deepEqual(read(' 09506000134352\r\n'), { gtin: '09506000134352' });
  assert.deepEqual(read('614141999996'), { gtin: '00614141999996' });
  assert.deepEqual(read('95050003'), { gtin: '00000095050003' });
  assert.deepEqual(read(']E09506000134352'), { gtin: '09506000134352' });
});

test('what is none of GS1 stays a text', () => {
  const texts = ['A-01-02', 'WH1', '9506000134353', '00000000', 'SO-2026-17', '(x)1', '(99', ']', '(12345)x'];
  for (const text of [...texts, 'https://example.com/a?b=1', 'http://', 'https://id.gs1.org/01/x']) {
    assert.deepEqual(read(text), { text });
  }
});

test('an element string has the same parts in each way to write it', () => {
  const parts = { gtin: '09506000134352', batch: 'ABC-1', expires: '2027-02-28', serial: '7', units: 12 };
  for (const text of [
    '(01)09506000134352(17)270200(10)ABC-1(21)7(37)12',
    `]C1010950600013435217270200${`10ABC-1${GS}217${GS}3712`}`,
    `]d2010950600013435217270228${`10ABC-1${GS}217${GS}3712`}`,
    `${GS}010950600013435217270228${`10ABC-1${GS}217${GS}3712`}`,
    'https://id.gs1.org/01/09506000134352/10/ABC%2D1/21/7?17=270228&37=12&utm_source=x',
    'http://example.com/some/path/01/9506000134352/10/ABC-1/21/7?37=12&17=270228',
  ]) {
    assert.deepEqual(read(text), parts, text);
  }
});

test('a scanner that leaves out FNC1 is understood where nothing can be mistaken', () => {
  assert.deepEqual(read('010950600013435217270228'), { gtin: '09506000134352', expires: '2027-02-28' });
  assert.deepEqual(read('00195060001343500005'), { text: '00195060001343500005' });
  assert.deepEqual(read('00395060001343500003'), { sscc: '395060001343500003' });
});

test('without FNC1, a part that may hold another one is not read', () => {
  const gtin = '09506000134352';
  for (const behind of ['10ABC-1217', '10L117270228', '21S137121', '371217', '10A1721091']) {
    assert.deepEqual(read(`01${gtin}${behind}`), { gtin, isCut: true }, behind);
  }
  assert.deepEqual(read(`01${gtin}1727022810ABC-1217`), { gtin, expires: '2027-02-28', isCut: true });
  assert.deepEqual(read(`01${gtin}1727022810ABC-5`), { gtin, expires: '2027-02-28', batch: 'ABC-5' });
  assert.deepEqual(read(`01${gtin}17270228101701`), { gtin, expires: '2027-02-28', batch: '1701' }, '17 is there');
  assert.deepEqual(read(`]C101${gtin}10ABC-1217`), { gtin, batch: 'ABC-1217' }, 'a scanner that names GS1');
});

test('weight, contents of a logistic unit, production and the better of two dates', () => {
  assert.deepEqual(read('(02)09506000134352(37)24(3103)012500(11)260105'), {
    content: '09506000134352', units: 24, weight: 12.5, produced: '2026-01-05',
  });
  assert.equal(read('(15)270101(17)270301').expires, '2027-03-01');
  assert.equal(read('(01)09506000134352(15)270101').expires, '2027-01-01');
  assert.deepEqual(read('(01)09506000134352(240)X(7003)2701010000(91)abc'), { gtin: '09506000134352' });
});

test('a year is one from 49 years ago to 50 years ahead', () => {
  assert.equal(read('(17)761130').expires, '2076-11-30');
  assert.equal(read('(17)771130').expires, '1977-11-30');
  assert.equal(read('(17)280200').expires, '2028-02-29');
});

test('a scan of GS1 that cannot be used says why and where', () => {
  /** @type {[string, string, string][]} */
  const wrong = [
    ['(01)09506000134353', 'digit', '01'], ['(00)395060001343500004', 'digit', '00'],
    ['(17)270230', 'date', '17'], ['(17)271301', 'date', '17'], ['(11)270001', 'date', '11'],
    ['(10)A(10)B', 'twice', '10'], ['(10)', 'form', '10'], [`(10)${'A'.repeat(21)}`, 'form', '10'],
    ['(37)123456789', 'form', '37'], ['(30)1x', 'form', '30'], ['(01)950600013435', 'form', '01'],
    [`]C110A B`, 'form', '10'], [`${GS}6812`, 'form', '68'], ['(10)ñ', 'form', '10'],
    [`]C100${'1'.repeat(18)}`, 'digit', '00'],
  ];
  for (const [text, problem, at] of wrong) {
    assert.deepEqual(read(text), { problem, at }, text);
  }
  assert.deepEqual(read('(10)A(10)A'), { batch: 'A' });
  assert.deepEqual(read('(10)A(1)B'), { batch: 'A(1)B' });
});

test('a hostile scan is read at once and never fails', () => {
  for (const text of ['(10)'.repeat(500), `${'('.repeat(2000)}`, GS.repeat(2000), '0'.repeat(2000), '%E0%A4%A',
    `https://id.gs1.org/01/09506000134352/10/%E0%A4%A`, `010950600013435210${'1'.repeat(1900)}`, `(21)${'%'.repeat(2000)}`, '\u0000', '__proto__',
    '(10)__proto__', ']C1', '', `]C1${'10A'.repeat(700)}`]) {
    const began = performance.now();
    read(text);
    assert.ok(performance.now() - began < 100, text.slice(0, 40));
  }
});

test('10,000 random element strings are read as they were written', () => {
  let seed = 7;
  /** @param {number} below */
  const random = (below) => {
    seed = (seed * 48271) % 2147483647;
    return seed % below;
  };
  const letters = `!"%&'()*+,-./0123456789:;<=>?ABCXYZ_abcxyz`;
  const text = () => Array.from({ length: 1 + random(20) }, () => letters[random(letters.length)]).join('');
  /** @param {number} length */
  const number = (length) => {
    const digits = Array.from({ length: length - 1 }, () => random(10)).join('');
    return [...'0123456789'].map((digit) => digits + digit).find(hasCheckDigit) ?? '';
  };
  for (let round = 0; round < 10_000; round += 1) {
    const month = 1 + random(12);
    const date = `${30 + random(40)}${String(month).padStart(2, '0')}${10 + random(19)}`;
    const written = { gtin: number(14), batch: text(), serial: text(), expires: `20${date.replace(/(..)(..)(..)/, '$1-$2-$3')}`, units: random(10 ** 8) };
    const elements = [
      ['01', written.gtin, ''], ['10', written.batch, GS], ['21', written.serial, GS], ['17', date, ''],
      ['37', String(written.units), GS],
    ].map((one) => ({ one, at: random(1000) })).sort((a, b) => a.at - b.at).map(({ one }) => one);
    const scanned = elements.map((one) => one.join('')).join('');
    assert.deepEqual(read(`]C1${scanned.replace(/\u001d$/, '')}`), written, scanned);
    const { isCut: _, text: __, ...certain } = read(scanned.replaceAll(GS, ''));
    assert.deepEqual({ ...written, ...certain }, written, `without FNC1: ${scanned}`);
  }
});

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { readScan } from '../../console/core/gs1.js';
import { namedPosition, readLabel } from '../../console/floor/goods.js';
import { announcedDate, nextAsk, openQty, takeScan, withEffects } from '../../console/floor/steps.js';

/**
 * @typedef {import('../../console/floor/goods.js').Goods} Goods
 * @typedef {import('../../console/floor/steps.js').Entry} Entry
 * @typedef {import('../../console/floor/steps.js').Kind} Kind
 * @typedef {import('../../console/floor/steps.js').Line} Line
 */

const PLAIN = { batch: null, serials: [], done: 0 };
const DRILL = {
  item_code: 'DRILL', name: 'Drill', barcode: '4006381333931', hasBatches: false, hasSerials: false,
  gtins: [{ gtin: '14006381333938', units: 12 }],
};
const PAINT = {
  item_code: 'PAINT', name: 'Paint', barcode: null, hasBatches: true, hasSerials: false,
  gtins: [{ gtin: '4012345000016', units: 1 }],
};
const SAW = {
  item_code: 'SAW', name: 'Saw', barcode: '96385074', hasBatches: false, hasSerials: true, gtins: [],
};
/** @type {Goods} */
const GOODS = { products: [DRILL, PAINT, SAW], positions: { 'A-1': 1, 'A-2': 2 } };

/** @type {Kind} */
const PICK = {
  asks: ['position', 'product', 'batch', 'serial', 'qty'], isBound: true, hasExpiry: false,
};
/** @type {Kind} */
const RECEIVE = {
  asks: ['product', 'batch', 'expires', 'serial', 'qty', 'target'], isBound: true, hasExpiry: true,
};
/** @type {Kind} */
const COUNT = {
  asks: ['position', 'product', 'batch', 'serial', 'qty'], isBound: false, hasExpiry: false,
};
/** @type {Line[]} */
const LINES = [
  { ...PLAIN, item_code: 'DRILL', position: 'A-1', qty: 10 },
  { ...PLAIN, item_code: 'PAINT', position: 'A-2', batch: 'L1', qty: 4 },
  { ...PLAIN, item_code: 'SAW', position: 'A-2', serials: ['S1', 'S2'], qty: 2 },
];

/**
 * @param {Kind} kind
 * @param {readonly Line[]} lines
 * @param {...string} texts
 */
function scanned(kind, lines, ...texts) {
  /** @type {Entry} */
  let entry = {};
  for (const text of texts) {
    const taken = takeScan(kind, GOODS, lines, entry, readScan(text));
    if (!('entry' in taken)) {
      return taken;
    }
    entry = taken.entry;
  }
  return { entry };
}

/**
 * @param {Kind} kind
 * @param {readonly Line[]} lines
 * @param {...string} texts
 * @returns {Entry}
 */
function entryOf(kind, lines, ...texts) {
  const taken = scanned(kind, lines, ...texts);
  assert.ok('entry' in taken, JSON.stringify(taken));
  return taken.entry;
}

test('a pick asks for position, product and quantity; more scans count more units', () => {
  let entry = entryOf(PICK, LINES, 'a-1');
  assert.equal(nextAsk(PICK, entry), 'product');
  entry = entryOf(PICK, LINES, 'A-1', '4006381333931');
  assert.equal(nextAsk(PICK, entry), 'qty');
  assert.equal(entry.scanned, 1);
  assert.equal(openQty(LINES, entry), 10);
  entry = entryOf(PICK, LINES, 'A-1', '4006381333931', '04006381333931', 'drill');
  assert.equal(entry.scanned, 3);
});

test('the GTIN of a case counts its units, and a quantity in the scan multiplies them', () => {
  assert.equal(entryOf(PICK, LINES, 'A-1', '14006381333938').scanned, 12);
  assert.equal(entryOf(PICK, LINES, 'A-1', '(01)04006381333931(30)5').scanned, 5);
  assert.equal(entryOf(RECEIVE, LINES, '(02)14006381333938(37)2').scanned, 24);
});

test('one scan of GS1 gives product, batch and date; only what is missing is asked', () => {
  const entry = entryOf(RECEIVE, LINES, '(01)04012345000016(17)300131(10)L1');
  assert.equal(entry.batch, 'L1');
  assert.equal(entry.expires, '2030-01-31');
  assert.equal(nextAsk(RECEIVE, entry), 'qty');
  assert.equal(nextAsk(RECEIVE, entryOf(RECEIVE, LINES, '4012345000016')), 'batch');
  assert.equal(nextAsk(RECEIVE, entryOf(RECEIVE, LINES, '4012345000016', 'L1')), 'expires');
  assert.equal(nextAsk(RECEIVE, entryOf(RECEIVE, LINES, 'DRILL')), 'qty');
});

test('goods with a batch may have no date, and the question begins with the announced one', () => {
  const asked = entryOf(RECEIVE, LINES, '4012345000016', 'L1');
  assert.equal(nextAsk(RECEIVE, { ...asked, expires: '' }), 'qty');
  const announced = (/** @type {string | null} */ batch) =>
    announcedDate([{ ...PLAIN, item_code: 'PAINT', position: null, qty: 4, expiry: { batch, date: '2030-01-31' } }], asked);
  assert.deepEqual(['L1', null, 'L2'].map(announced), ['2030-01-31', '2030-01-31', '']);
});

test('a label whose parts cannot be told apart says so where they are asked', () => {
  const label = '01040123450000161030013110L117270228';
  const entry = entryOf(RECEIVE, LINES, label);
  assert.equal(entry.batch, undefined);
  assert.deepEqual(takeScan(RECEIVE, GOODS, LINES, entry, readScan(label)), { problem: { key: 'scan_cut', values: {} } });
});

for (const [name, texts, key, expected] of /** @type {const} */ ([
  ['position without open lines', ['A-1', 'A-2', 'DRILL'], 'scan_wrong_product', 'PAINT'],
  ['wrong product', ['A-1', 'PAINT'], 'scan_wrong_product', 'DRILL'],
  ['wrong batch', ['A-2', 'PAINT', 'L9'], 'scan_wrong_batch', 'L1'],
  ['wrong batch in the scan', ['A-2', '(01)04012345000016(10)L9'], 'scan_wrong_batch', 'L1'],
  ['wrong serial', ['A-2', 'SAW', 'S9'], 'scan_wrong_serial', 'S1, S2'],
  ['other batch than that of the goods in hand',
    ['A-2', '(01)04012345000016(10)L1', '(01)04012345000016(10)L2'], 'scan_other_batch', 'L1'],
])) {
  test(`refused at once: ${name}`, () => {
    const taken = scanned(PICK, LINES, ...texts);
    assert.ok('problem' in taken, JSON.stringify(taken));
    assert.equal(taken.problem.key, key);
    assert.equal(taken.problem.values['expected'], expected);
  });
}

test('a product before its position, a bad scan and an unknown code are told apart', () => {
  assert.deepEqual(scanned(PICK, LINES, 'DRILL'), {
    problem: { key: 'scan_needs_position', values: {} },
  });
  assert.deepEqual(scanned(PICK, LINES, '(01)04006381333932'), {
    problem: { key: 'scan_digit', values: { at: '01' } },
  });
  assert.deepEqual(scanned(PICK, LINES, 'Z-9'), { unknown: { text: 'Z-9' } });
  assert.deepEqual(scanned(PICK, LINES, 'A-1', '4000000000006'), { unknown: { gtin: '04000000000006' } });
});

test('what is done is asked for no more', () => {
  const lines = withEffects(LINES, [
    { item_code: 'DRILL', position: 'A-1', batch: null, serial: null, qty: 10 },
    { item_code: 'SAW', position: 'A-2', batch: null, serial: 'S1', qty: 1 },
  ]);
  assert.deepEqual(lines.map(({ done }) => done), [10, 0, 1]);
  assert.ok('problem' in scanned(PICK, lines, 'A-1'));
});

test('what is taken back is open again, and decimals stay exact', () => {
  const effect = { item_code: 'DRILL', position: 'A-1', batch: null, serial: null };
  const lines = withEffects(LINES, [{ ...effect, qty: 0.1 }, { ...effect, qty: 0.2 }]);
  assert.equal(lines[0]?.done, 0.3);
  assert.equal(withEffects(lines, [{ ...effect, qty: -0.2 }])[0]?.done, 0.1);
  assert.equal(withEffects(LINES, [{ ...effect, qty: 12 }])[0]?.done, 12, 'more than was open');
});

test('goods of several lines fill them in their order', () => {
  const two = [{ ...PLAIN, item_code: 'DRILL', position: null, qty: 3 }, { ...PLAIN, item_code: 'DRILL', position: null, qty: 5 }];
  const effect = { item_code: 'DRILL', position: 'A-1', batch: null, serial: null, qty: 4 };
  assert.deepEqual(withEffects(two, [effect]).map(({ done }) => done), [3, 1]);
});

test('a count takes whatever is there, and begins again at another position', () => {
  const entry = entryOf(COUNT, [], 'A-1', 'PAINT', 'ANY', 'A-2');
  assert.deepEqual(entry, { position: 'A-2' });
  assert.equal(nextAsk(COUNT, entryOf(COUNT, [], 'A-1', 'PAINT', 'ANY')), 'qty');
});

test('a scan of goods at the last question is the goods, not the position', () => {
  const entry = entryOf(RECEIVE, LINES, 'DRILL');
  assert.equal(nextAsk(RECEIVE, { ...entry, qty: 2 }), 'target');
  const taken = takeScan(RECEIVE, GOODS, LINES, { ...entry, qty: 2 }, readScan('a-2'));
  assert.deepEqual(taken, { entry: { ...entry, qty: 2, target: 'A-2' } });
});

test('a label says more than the company manages: only what the product has is taken', () => {
  const entry = entryOf(RECEIVE, LINES, '(01)04006381333931(17)300131(10)L1(21)7');
  assert.deepEqual([entry.batch, entry.serial, entry.expires], [undefined, undefined, undefined]);
});

test('a further scan of goods that cannot count any more is refused', () => {
  for (const [entry, text, key] of /** @type {const} */ ([
    [{ product: DRILL, scanned: 1, qty: 2 }, 'DRILL', 'scan_needs_target'],
    [{ product: SAW, scanned: 1, serial: 'S1', qty: 1 }, '(01)00000096385074(21)S2', 'scan_needs_target'],
    [{ product: PAINT, scanned: 1 }, 'PAINT', 'scan_needs_batch'],
    [{ product: PAINT, scanned: 1, batch: 'L1' }, 'PAINT', 'scan_needs_expires'],
  ])) {
    const taken = takeScan(RECEIVE, GOODS, LINES, entry, readScan(text));
    assert.deepEqual(taken, { problem: { key, values: {} } });
  }
});

test('digits that may be a GTIN may also be a code, a batch or a serial number', () => {
  const goods = { products: [PAINT, SAW, { ...DRILL, item_code: '95050003', barcode: null, gtins: [] }], positions: { '95050003': 1 } };
  const read = readLabel('95050003');
  assert.deepEqual(read, { gtin: '00000095050003', text: '95050003' });
  assert.deepEqual(readLabel('(01)09506000134352'), { gtin: '09506000134352' });
  const asked = (/** @type {Entry} */ entry) => takeScan(COUNT, goods, [], entry, read);
  assert.deepEqual(asked({}), { problem: { key: 'scan_needs_position', values: {} } }, 'the product');
  assert.equal(namedPosition(goods, read), '95050003');
  const known = { products: [PAINT, SAW], positions: {} };
  for (const [product, ask] of /** @type {const} */ ([[PAINT, 'batch'], [SAW, 'serial']])) {
    const entry = { position: 'A-1', product };
    assert.deepEqual(takeScan(COUNT, known, [], entry, read), { entry: { ...entry, [ask]: '95050003' } });
  }
});

test('goods of one position go to the target of their line, which the device knows', () => {
  const lines = [
    { ...PLAIN, item_code: 'DRILL', position: 'A-1', qty: 10, target: 'B-1' },
    { ...PLAIN, item_code: 'DRILL', position: 'A-1', qty: 5, target: 'B-2' },
  ];
  const kind = { ...PICK, asks: /** @type {const} */ (['position', 'product', 'qty', 'target']) };
  const entry = entryOf(kind, lines, 'A-1', 'DRILL');
  assert.equal(openQty(lines, entry), 10);
  const taken = takeScan(kind, { ...GOODS, positions: {} }, lines, { ...entry, qty: 5 }, readScan('b-2'));
  assert.deepEqual(taken, { entry: { ...entry, qty: 5, target: 'B-2' } });
  const tooMuch = takeScan(kind, GOODS, lines, { ...entry, qty: 10 }, readScan('B-2'));
  assert.equal('problem' in tooMuch && tooMuch.problem.key, 'scan_wrong_target');
  const effect = { item_code: 'DRILL', position: 'A-1', batch: null, serial: null, qty: 5, target: 'B-2' };
  assert.deepEqual(withEffects(lines, [effect]).map(({ done }) => done), [0, 5]);
});

test('a text that is longer than any code is unknown, whatever is asked', () => {
  const entry = { position: 'A-1', product: PAINT, scanned: 1 };
  const taken = takeScan(COUNT, GOODS, [], entry, readScan('x'.repeat(2000)));
  assert.deepEqual(taken, { problem: { key: 'unknown_code', values: { code: 'x'.repeat(60) } } });
});

test('after everything is done, a scan says so', () => {
  const lines = LINES.map((line) => ({ ...line, done: line.qty }));
  assert.deepEqual(scanned(PICK, lines, 'A-1'), { problem: { key: 'all_done', values: {} } });
});

test('an empty position is done with all of its lines', () => {
  const lines = LINES.map((line) => ({ ...line, qty: 1 }));
  const effect = { item_code: '', position: 'A-2', batch: null, serial: null, qty: 1 };
  assert.deepEqual(withEffects(lines, [effect]).map(({ done }) => done), [0, 1, 1]);
});

test('the label of a position is no batch and no serial number, unless a line names it', () => {
  assert.deepEqual(scanned(PICK, LINES, 'A-2', 'PAINT', 'A-1'), { entry: { position: 'A-1' } });
  const likePlace = LINES.map((line) => (line.batch === null ? line : { ...line, batch: 'A-1' }));
  assert.equal(entryOf(PICK, likePlace, 'A-2', 'PAINT', 'A-1').batch, 'A-1');
  const expected = { problem: { key: 'scan_needs_serial', values: {} } };
  assert.deepEqual(scanned(RECEIVE, LINES, 'SAW', 'A-1'), expected);
  const anyBatch = LINES.map((line) => ({ ...line, batch: null }));
  assert.equal(entryOf(RECEIVE, anyBatch, 'PAINT', '(10)A-1').batch, 'A-1');
});

test('the label of a position where none is asked for says what is', () => {
  const expected = { problem: { key: 'scan_needs_product', values: {} } };
  assert.deepEqual(scanned(RECEIVE, LINES, 'A-1'), expected);
});

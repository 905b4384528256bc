import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';

import { keepTask, openFloor, page, refused, until } from './floor_page.js';
import { answer } from './service.js';

const state = await import('../../console/floor/state.js');
const work = await import('../../console/floor/work.js');
const { refreshTask, takeTask } = await import('../../console/floor/take.js');
const { withAnswer } = await import('../../console/floor/sender.js');
const { calls } = await import('../../console/core/app.js');

/** @typedef {import('../../console/floor/steps.js').Entry} Entry */
/** @typedef {import('../../console/floor/store.js').Task} Task */

const BOLT = { item_code: 'BOLT', name: 'Bolt', barcode: null, gtins: [], hasBatches: false, hasSerials: false };
const SAW = { ...BOLT, item_code: 'SAW', hasSerials: true };
const GOODS = { products: [BOLT, SAW], positions: { 'A-1': 1, 'A-2': 2 } };
const LINE = { item_code: 'BOLT', batch_num: null, serials: [] };
const PICKED = { ...LINE, bin_code: 'A-1', qty: 9, picked_qty: 0 };

/** @type {() => Response} */
const lost = () => {
  throw new TypeError('Failed to fetch');
};

beforeEach(async () => {
  page.answer = lost;
  const user = await openFloor();
  page.answer = lost;
  await state.begin(user);
});

/** @param {string} id */
function kept(id) {
  const task = work.taskOf(id);
  assert.ok(task);
  return task;
}

/**
 * Scan one after the other, and record the movement if it has everything.
 *
 * @param {string} id
 * @param {Entry} entry
 * @param {...string} texts
 * @returns {Promise<Entry>}
 */
async function scanned(id, entry, ...texts) {
  for (const text of texts) {
    const next = await work.entryAfter(kept(id), work.linesOf(kept(id)), entry, text);
    assert.ok(typeof next === 'object', String(next));
    entry = next;
  }
  return entry;
}

/** @param {string} id */
const done = (id) => work.linesOf(kept(id)).map((line) => line.done);

const picking = () => keepTask('pickings/1', { lines: [PICKED] }, { goods: GOODS });
const AT = { product: BOLT, position: 'A-1' };

test('what waits counts as done, and what is refused or left does not', async () => {
  await picking();
  await work.recordEntry(kept('pickings/1'), { ...AT, qty: 2 });
  assert.deepEqual(done('pickings/1'), [2]);
  const [scan] = state.scans.value;
  assert.ok(scan);
  for (const status of /** @type {const} */ (['refused', 'left'])) {
    await state.store.change(scan.number, (one) => ({ ...one, status }));
    await state.reload();
    assert.deepEqual(done('pickings/1'), [0]);
  }
});

test('the next pick begins at the position as long as something is open there', async () => {
  const more = { ...PICKED, bin_code: 'A-2', qty: 1 };
  await keepTask('pickings/1', { lines: [PICKED, more] }, { goods: GOODS });
  assert.deepEqual(await work.recordEntry(kept('pickings/1'), { ...AT, qty: 2 }), { position: 'A-1' });
  assert.deepEqual(await work.recordEntry(kept('pickings/1'), { ...AT, qty: 7 }), {});
});

test('goods that others took meanwhile are not asked for; goods that arrive are there all the same', async () => {
  await picking();
  const isTaken = (/** @type {Entry} */ entry) => work.isTaken(kept('pickings/1'), work.linesOf(kept('pickings/1')), entry);
  assert.deepEqual([isTaken({}), isTaken(AT), isTaken({ position: 'A-1' })], [false, false, false]);
  await keepTask('pickings/1', { lines: [{ ...PICKED, picked_qty: 9 }, { ...PICKED, bin_code: 'A-2' }] }, { goods: GOODS });
  assert.deepEqual([isTaken({}), isTaken(AT), isTaken({ position: 'A-1' })], [false, true, true]);
  await keepTask('receipts/1', { document: { id: 5 }, lines: [{ item_code: 'BOLT', qty: 9 }] });
  await state.store.changeTask('acme/7', 'receipts/1', (task) => ({
    ...task,
    resources: {
      ...task.resources,
      'entry-documents/5': { lines: [{ item_code: 'BOLT', qty: 9, received_qty: 9 }], receiptThen: { lines: [] } },
    },
  }));
  await state.reload();
  assert.equal(work.isTaken(kept('receipts/1'), work.linesOf(kept('receipts/1')), { product: BOLT }), false);
  const packed = { ...LINE, qty: 1, packed_qty: 1 };
  await keepTask('packing-orders/1', { lines: [packed], handling_units: [] }, { goods: GOODS });
  assert.equal(work.isTaken(kept('packing-orders/1'), work.linesOf(kept('packing-orders/1')), { unit: 'HU-1' }), false);
});

test('one unit and a serial number need no question for the quantity', async () => {
  const saw = { ...PICKED, item_code: 'SAW', qty: 2 };
  await keepTask('pickings/1', { lines: [{ ...PICKED, qty: 1 }, saw] }, { goods: GOODS });
  assert.equal((await scanned('pickings/1', {}, 'A-1', 'BOLT')).qty, 1);
  assert.equal((await scanned('pickings/1', {}, 'A-1', 'SAW', 'S1')).qty, 1);
});

test('a case of which one unit is open asks for the quantity', async () => {
  const crate = { ...BOLT, gtins: [{ gtin: '14006381333938', units: 12 }, { gtin: '4006381333931', units: 1 }] };
  await keepTask('pickings/1', { lines: [{ ...PICKED, qty: 1 }] }, { goods: { ...GOODS, products: [crate] } });
  const entry = await scanned('pickings/1', {}, 'A-1', '14006381333938');
  assert.deepEqual([entry.qty, entry.scanned], [undefined, 12]);
  assert.equal((await scanned('pickings/1', {}, 'A-1', '4006381333931')).qty, 1);
});

test('the quantity begins with what is open, or with what was scanned', async () => {
  await picking();
  const { preset, open } = { preset: work.presetQty, open: work.linesOf(kept('pickings/1')) };
  const { kindOf } = await import('../../console/floor/kinds.js');
  assert.equal(preset(kindOf('pickings/1'), open, AT), 9);
  assert.equal(preset(kindOf('pickings/1'), open, { ...AT, scanned: 3, isCounted: true }), 3);
  assert.equal(preset(kindOf('counts/1'), [], { ...AT, scanned: 1 }), 1);
  assert.equal(preset(kindOf('counts/1'), [], AT), '');
});

test('without a network a position is taken as it is, and other codes are not', async () => {
  await keepTask('moves/CEN', { whs_code: 'CEN', lines: [] }, { goods: GOODS });
  assert.deepEqual(await scanned('moves/CEN', {}, 'NEW-1'), { position: 'NEW-1' });
  const wrong = await work.entryAfter(kept('moves/CEN'), [], { position: 'A-1' }, 'NUT');
  assert.match(String(wrong), /no network to look it up: NUT/);
  await picking();
  const unknown = await work.entryAfter(kept('pickings/1'), work.linesOf(kept('pickings/1')), {}, 'NEW-1');
  assert.match(String(unknown), /no network to look it up: NEW-1/);
});

test('what the service could not look up is not called unknown', async () => {
  await picking();
  const said = async () => work.entryAfter(kept('pickings/1'), work.linesOf(kept('pickings/1')), { position: 'A-1' }, 'NUT');
  page.answer = () => refused('internal_error', 500);
  assert.match(String(await said()), /no network to look it up: NUT/);
  page.answer = () => refused('rate_limited', 429);
  assert.match(String(await said()), /Too many requests .*: NUT/);
  page.answer = () => refused('forbidden', 403);
  assert.equal(await said(), 'Unknown: NUT');
});

test('what the service knows of a scan stays on the device', async () => {
  await keepTask('moves/CEN', { whs_code: 'CEN', lines: [] }, { goods: GOODS });
  const nut = { id: 3, item_code: 'NUT', name: 'Nut', barcode: null, man_btch_num: false, man_ser_num: false };
  page.answer = ({ path }) => {
    if (path.includes('packaging')) {
      return answer(200, { data: { gtins: [] } });
    }
    return answer(200, { data: path.includes('item_code=NUT') ? [nut] : [] });
  };
  const unknown = await work.entryAfter(kept('moves/CEN'), [], { position: 'A-1' }, 'NOT');
  assert.equal(unknown, 'Unknown: NOT');
  assert.equal((await scanned('moves/CEN', { position: 'A-1' }, 'NUT')).product?.item_code, 'NUT');
  page.answer = lost;
  assert.equal((await scanned('moves/CEN', { position: 'A-1' }, 'NUT')).product?.item_code, 'NUT');
});

test('a scan that was never sent is gone when it is taken back', async () => {
  await picking();
  state.isElsewhere.value = true; // nothing is sent
  await work.recordEntry(kept('pickings/1'), { ...AT, qty: 2 });
  const last = work.lastScan('pickings/1');
  assert.ok(last);
  await work.undo(last);
  assert.deepEqual([state.scans.value, done('pickings/1')], [[], [0]]);
});

test('what may have been sent is undone at the service, once', async () => {
  await picking();
  await work.recordEntry(kept('pickings/1'), { ...AT, qty: 2 });
  await until(async () => (await state.store.pending()).some(({ sentAt }) => sentAt !== null));
  await state.reload();
  const last = work.lastScan('pickings/1');
  assert.ok(last);
  await work.undo(last);
  await work.undo(last); // a second tap
  const requests = state.scans.value.map(({ request }) => request.operation);
  assert.deepEqual(requests, ['POST /pickings/{id}/picks', 'POST /pickings/{id}/picks/undo']);
  assert.deepEqual(done('pickings/1'), [0]);
  assert.equal(work.lastScan('pickings/1'), undefined);
});

test('what is refused, left or cannot be undone is not taken back', async () => {
  await picking();
  await work.recordEntry(kept('pickings/1'), { ...AT, qty: 2 });
  const [scan] = state.scans.value;
  assert.ok(scan);
  for (const status of /** @type {const} */ (['refused', 'left'])) {
    await state.store.change(scan.number, (one) => ({ ...one, status }));
    await state.reload();
    assert.equal(work.lastScan('pickings/1'), undefined, status);
  }
  const counted = { task: 'counts/1', text: 'c', request: { ...scan.request, operation: 'POST /counts/{id}/lines' } };
  await state.record({ ...counted });
  const { number } = state.scans.value.at(-1) ?? scan;
  await state.store.change(number, (one) => ({ ...one, status: 'done' }));
  await state.reload();
  assert.equal(work.lastScan('counts/1'), undefined);
});

test('goods that are counted at a position are known, also before the count is sent', async () => {
  const line = { ...LINE, bin_code: 'A-1', serial_number: null, status: 'open' };
  await keepTask('counts/1', { lines: [line, { ...line, bin_code: 'A-2', status: 'counted' }] }, { goods: GOODS });
  const isCounted = (/** @type {Entry} */ entry) =>
    work.isCounted(kept('counts/1'), work.linesOf(kept('counts/1')), entry);
  assert.deepEqual([isCounted(AT), isCounted({ ...AT, position: 'A-2' })], [false, true]);
  await work.recordEntry(kept('counts/1'), { ...AT, qty: 0 });
  assert.equal(isCounted(AT), true);
  const others = { ...AT, product: { ...BOLT, item_code: 'NUT' } }; // goods that no line has
  assert.equal(isCounted(others), false);
  await work.recordEntry(kept('counts/1'), { ...others, qty: 4 });
  assert.equal(isCounted(others), true);
  assert.equal(isCounted({ ...others, batch: 'L1' }), false);
});

test('the lines of a transfer stay on the device until one request carries them out', async () => {
  const line = { ...LINE, from_bin: 'R-1', to_bin: 'A-1', qty: 8 };
  await keepTask('transfers/1', { lines: [line] }, { goods: GOODS });
  const move = { product: BOLT, position: 'R-1', target: 'A-1' };
  await work.recordEntry(kept('transfers/1'), { ...move, qty: 3 });
  assert.deepEqual([done('transfers/1'), state.scans.value], [[3], []]);
  await state.reload();
  assert.equal(work.lastLine(kept('transfers/1'))?.text, '3 × BOLT, R-1 → A-1');
  const before = kept('transfers/1');
  await work.takeLineBack(before);
  await work.takeLineBack(before); // a second tap
  assert.deepEqual(done('transfers/1'), [0]);

  await work.recordEntry(kept('transfers/1'), { ...move, qty: 3 });
  await work.recordEntry(kept('transfers/1'), { ...move, qty: 5 });
  const [{ request, isEnd } = assert.fail(), ...others] = state.scans.value;
  assert.deepEqual([request.operation, isEnd, others], ['POST /transfers/{id}/execute', true, []]);
  assert.equal(work.lastLine(kept('transfers/1')), undefined);
});

test('a task that is taken twice keeps the lines that were scanned between the two answers', async () => {
  const line = { ...LINE, from_bin: 'R-1', to_bin: 'A-1', qty: 8 };
  page.answer = ({ path }) =>
    path.includes('/goods')
      ? answer(200, { data: { products: [], positions: [], whs_code: 'CEN' } })
      : answer(200, { data: { id: 1, status: 'pending', lines: [line] } });
  const take = async () => {
    await takeTask({ ...state.parts(), calls }, 'transfers/1', null);
    await state.reload();
  };
  await take();
  await work.recordEntry(kept('transfers/1'), { product: BOLT, position: 'R-1', target: 'A-1', qty: 3 });
  await take();
  assert.deepEqual(done('transfers/1'), [3]);
});

/** What waiting scans have counted, without its time. */
const counted = () =>
  state.scans.value.map(({ request }) => {
    const { counted_at: _at, ...body } = /** @type {any} */ (request.body);
    return body;
  });

test('what a count misses at a position is counted by its name, and nothing else there', async () => {
  const line = { ...LINE, bin_code: 'A-1', item_code: 'SAW', serial_number: 'S1', status: 'open', inventory_status: 'available' };
  const other = { ...line, serial_number: 'S2' };
  const paint = { ...line, item_code: 'PAINT', serial_number: null, batch_num: 'L1', inventory_status: 'damaged' };
  const elsewhere = { ...line, bin_code: 'A-2', serial_number: 'S3' };
  await keepTask('counts/1', { lines: [line, other, paint, elsewhere] }, { goods: GOODS });
  await work.recordEntry(kept('counts/1'), { product: SAW, position: 'A-1', serial: 'S1', qty: 1 });
  await work.recordNothing(kept('counts/1'), 'A-1');
  assert.deepEqual(counted().slice(1), [
    { item_code: 'SAW', qty: 0, serials: ['S2'], bin_code: 'A-1', inventory_status: 'available' },
    { item_code: 'PAINT', qty: 0, batch: 'L1', bin_code: 'A-1', inventory_status: 'damaged' },
  ]);
  assert.deepEqual(done('counts/1'), [1, 1, 1, 0]);
});

test('a position that should be empty is, unless goods were found there', async () => {
  const empty = { ...LINE, item_code: null, bin_code: 'A-1', serial_number: null, status: 'open' };
  await keepTask('counts/1', { lines: [empty, { ...empty, bin_code: 'A-2' }] }, { goods: GOODS });
  await work.recordNothing(kept('counts/1'), 'A-1');
  assert.deepEqual(counted(), [{ empty: true, bin_code: 'A-1' }]);
  await work.recordEntry(kept('counts/1'), { ...AT, position: 'A-2', qty: 4 });
  assert.deepEqual(work.uncountedAt(kept('counts/1'), work.linesOf(kept('counts/1')), 'A-2'), []);
});

test('a handling unit whose closing waits takes nothing, until it is opened again', async () => {
  const unit = { id: 5, code: 'HU-5', sscc: null, status: 'open', contents: [] };
  const lines = [{ ...LINE, serial_numbers: [], qty: 6, packed_qty: 0 }];
  await keepTask('packing-orders/1', { lines, handling_units: [unit] }, { goods: GOODS });
  const isOpen = () => work.isOpenUnit(kept('packing-orders/1'), 'HU-5');
  assert.equal(isOpen(), true);
  const of = (/** @type {string} */ operation) => ({ operation, parameters: { id: 5 }, body: {} });
  await state.record({ task: 'packing-orders/1', text: 'c', request: of('POST /handling-units/{id}/close') });
  assert.equal(isOpen(), false);
  const task = kept('packing-orders/1');
  const entry = await work.entryAfter(task, work.linesOf(task), {}, 'HU-5');
  assert.equal(entry, 'HU-5 is no open handling unit of this order');
  await state.record({ task: 'packing-orders/1', text: 'o', request: of('POST /handling-units/{id}/reopen') });
  assert.equal(isOpen(), true);
});

test('a new handling unit is known, also to an order that was read before it', async () => {
  const id = 'packing-orders/1';
  const shown = { lines: [{ ...LINE, serial_numbers: [], qty: 6, packed_qty: 0 }], handling_units: [], status: 'open' };
  await keepTask(id, shown, { goods: GOODS });
  const before = kept(id);
  const unit = { id: 6, code: 'HU-6', sscc: null, status: 'open', contents: [] };
  await work.keepUnit(before, unit);
  const { data } = { data: { id: 1, ...shown } };
  page.answer = ({ path }) => answer(200, path.endsWith('/goods') ? { data: { ...GOODS, positions: [] } } : { data });
  await refreshTask(state.parts(), before);
  await state.store.changeTask(before.owner, id, (task) => withAnswer(task, id, { body: { data }, etag: null }));
  await state.reload();
  const entry = await scanned(id, {}, 'HU-6');
  assert.deepEqual(entry, { unit: 'HU-6' });
  await work.recordEntry(kept(id), { ...entry, product: BOLT, qty: 2 });
  assert.equal(state.scans.value.at(-1)?.request.parameters['id'], 6);
  assert.deepEqual(work.unitsToClose(kept(id)), ['HU-6']);
});

test('the SSCC of another company is no handling unit of the order', async () => {
  const unit = { id: 5, code: 'HU-5', sscc: '095060001343500009', status: 'open', contents: [] };
  const lines = [{ ...LINE, serial_numbers: [], qty: 6, packed_qty: 0 }];
  await keepTask('packing-orders/1', { lines, handling_units: [unit] }, { goods: GOODS });
  const task = kept('packing-orders/1');
  const entry = await work.entryAfter(task, work.linesOf(task), {}, '(00)395060001343500003');
  assert.equal(entry, '395060001343500003 is no open handling unit of this order');
});

test('a packing order whose goods are packed names the units that are still open', async () => {
  const contents = [{ item_code: 'BOLT', qty: 6 }];
  const unit = { id: 5, code: 'HU-5', sscc: null, status: 'open', contents };
  const units = [unit, { ...unit, id: 6, code: 'HU-6', contents: [] }, { ...unit, id: 7, code: 'HU-7', status: 'closed' }];
  const lines = [{ ...LINE, serial_numbers: [], qty: 6, packed_qty: 6 }];
  await keepTask('packing-orders/1', { lines, handling_units: units }, { goods: GOODS });
  assert.deepEqual(work.unitsToClose(kept('packing-orders/1')), ['HU-5'], 'one that is empty may stay open');
  const of = (/** @type {number} */ id, /** @type {string} */ operation) => ({ operation, parameters: { id }, body: {} });
  await state.record({ task: 'packing-orders/1', text: 'p', request: of(6, 'POST /handling-units/{id}/contents') });
  await state.record({ task: 'packing-orders/1', text: 'c', request: of(5, 'POST /handling-units/{id}/close') });
  assert.deepEqual(work.unitsToClose(kept('packing-orders/1')), ['HU-6']);
});

test('a line is not taken back after its transfer is being carried out', async () => {
  const line = { item_code: 'BOLT', position: 'A-1', batch: null, serial: null, qty: 1, text: 'a' };
  const shown = await keepTask('transfers/1', { lines: [] }, { scanned: [line, line] });
  await work.takeLineBack(shown);
  assert.equal(kept('transfers/1').scanned?.length, 1);
  const now = kept('transfers/1');
  const request = { operation: 'POST /transfers/{id}/execute', parameters: { id: 1 }, body: {} };
  await state.record({ task: 'transfers/1', text: 'end', request, isEnd: true });
  await work.takeLineBack(now);
  assert.equal(kept('transfers/1').scanned?.length, 1);
});

test('a task whose end was refused shows its end when it is opened again', async () => {
  await picking();
  const request = { operation: 'POST /pickings/{id}/finalize', parameters: { id: 1 }, body: {} };
  await state.record({ task: 'pickings/1', text: 'end', request, isEnd: true });
  assert.equal(work.endOf(kept('pickings/1'))?.text, 'end');
  const [{ number } = assert.fail()] = state.scans.value;
  await state.store.change(number, (one) => ({ ...one, status: 'refused' }));
  await state.reload();
  assert.equal(work.endOf(kept('pickings/1'))?.status, 'refused');
});

test('a year of two digits is one of the clock of the service', async () => {
  const { session } = await import('../../console/core/app.js');
  const user = session.user.value;
  assert.ok(user);
  session.user.value = { ...user, issuedAt: Date.UTC(2095, 5, 1) / 1000 };
  const paint = { ...BOLT, item_code: 'PAINT', barcode: '4012345000016', hasBatches: true };
  await keepTask('moves/CEN', { whs_code: 'CEN', lines: [] }, { goods: { ...GOODS, products: [paint] } });
  const entry = await scanned('moves/CEN', { position: 'A-1' }, '(01)04012345000016(17)100131');
  session.user.value = user;
  assert.equal(entry.expires, '2110-01-31');
});

test('a receipt is read again when goods come between it and its document', async () => {
  let received = 0;
  const read = { receipts: 0, documents: 0 };
  page.answer = ({ path }) => {
    if (!path.startsWith('/receipts/1') && !path.startsWith('/entry-documents/8')) {
      return lost(); // scans of the tests before
    }
    if (path.includes('/goods')) {
      return answer(200, { data: { products: [], positions: [], whs_code: 'CEN' } });
    }
    if (path.includes('/entry-documents/')) {
      read.documents += 1;
      received = 4; // somebody else, after the receipt was read
      return answer(200, { data: { id: 8, lines: [{ item_code: 'BOLT', qty: 9, received_qty: received }] } });
    }
    read.receipts += 1;
    const lines = received > 0 ? [{ item_code: 'BOLT', qty: received }] : [];
    return answer(200, { data: { id: 1, document: { id: 8 }, lines } }, { etag: `"${received}"` });
  };
  await takeTask({ ...state.parts(), calls }, 'receipts/1', null);
  await state.reload();
  assert.deepEqual(done('receipts/1'), [4]);
  assert.deepEqual(read, { receipts: 3, documents: 2 });
});

test('another position is picked from after a second scan, if the company allows it', async () => {
  const more = { ...PICKED, bin_code: 'A-1', qty: 9, batch_num: null };
  const at = async (/** @type {any} */ substitution, /** @type {Entry} */ entry, /** @type {string} */ text) => {
    await keepTask('pickings/1', { lines: [more] }, { goods: GOODS, substitution });
    return work.entryAfter(kept('pickings/1'), work.linesOf(kept('pickings/1')), entry, text);
  };
  for (const substitution of ['none', 'batch']) {
    assert.equal(await at(substitution, {}, 'A-2'), 'Wrong position: A-2, not A-1');
    assert.equal(await at(substitution, {}, 'A-2'), 'Wrong position: A-2, not A-1');
  }
  for (const substitution of ['position', 'any']) {
    const warned = 'Wrong position: A-2, not A-1. Scan it again to take it instead';
    assert.equal(await at(substitution, {}, 'A-2'), warned);
    assert.deepEqual(await at(substitution, {}, 'A-1'), { position: 'A-1' }); // another scan between them
    assert.equal(await at(substitution, {}, 'A-2'), warned);
    const entry = await at(substitution, {}, 'A-2');
    assert.deepEqual(entry, { position: 'A-2', instead: ['position'] });
    const next = await at(substitution, /** @type {Entry} */ (entry), 'BOLT');
    assert.ok(typeof next === 'object' && next.product);
    await work.recordEntry(kept('pickings/1'), { ...next, qty: 4 });
    assert.equal(state.scans.value.at(-1)?.request.body['bin_code'], 'A-2');
    assert.deepEqual(done('pickings/1'), [substitution === 'position' ? 4 : 8]);
  }
});

test('without a network another position may also be one that the device does not know', async () => {
  await keepTask('pickings/1', { lines: [PICKED] }, { goods: GOODS, substitution: 'position' });
  const scan = () => work.entryAfter(kept('pickings/1'), work.linesOf(kept('pickings/1')), {}, 'NEW-1');
  assert.match(String(await scan()), /Wrong position: NEW-1, not A-1. Scan it again/);
  assert.deepEqual(await scan(), { position: 'NEW-1', instead: ['position'] });
});

test('another batch is picked after a second scan, if the company allows it', async () => {
  const paint = { ...BOLT, item_code: 'PAINT', hasBatches: true };
  const line = { ...PICKED, item_code: 'PAINT', batch_num: 'L1' };
  const goods = { ...GOODS, products: [paint] };
  await keepTask('pickings/1', { lines: [line] }, { goods, substitution: 'batch' });
  const begun = { position: 'A-1', product: paint };
  const scan = () => work.entryAfter(kept('pickings/1'), work.linesOf(kept('pickings/1')), begun, 'L2');
  assert.match(String(await scan()), /Wrong batch: L2, not L1. Scan it again/);
  assert.deepEqual(await scan(), { ...begun, batch: 'L2', instead: ['batch'] });
});

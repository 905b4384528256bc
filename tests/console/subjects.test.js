import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

import { actionName, actionsForMany, allowedActions, excessOf, mainAction, startsAt } from '../../console/core/actions.js';
import { consequenceOf } from '../../console/core/consequences.js';
import { SETTING_GROUPS } from '../../console/core/setting_groups.js';
import { itemPath, listPath, objectOf } from '../../console/core/subject.js';
import { SUBJECT, SUBJECTS } from '../../console/subjects.js';

const CONSOLE = new URL('../../console/', import.meta.url);
const FOLDER = new URL('interface/', CONSOLE);

/** Writes that a screen of its own offers: its source names them. */
const ELSEWHERE = readdirSync(CONSOLE, { encoding: 'utf8', recursive: true })
  .filter((file) => /^(components|screens)\/.*\.js$/.test(file))
  .map((file) => readFileSync(new URL(file, CONSOLE), 'utf8'))
  .flatMap((source) => [...source.matchAll(/'((?:POST|PATCH|PUT|DELETE) \/[^']+)'/g)])
  .map(([, write]) => write);

/** @type {Map<string, import('../../console/core/subject.js').Interface>} */
const interfaces = new Map();
for (const file of readdirSync(FOLDER).filter((name) => name.endsWith('.js'))) {
  interfaces.set(file.replace('.js', ''), (await import(new URL(file, FOLDER).href)).default);
}
const writes = new Map(
  [...interfaces.values()].flatMap(({ actions }) => Object.entries(actions)),
);

/** The names in `actions` of each detail that has them, by subject. */
const DOCUMENT = new URL('../../docs/reference/openapi.json', import.meta.url);
const { paths, components } = JSON.parse(readFileSync(DOCUMENT, 'utf8'));
/** @type {Map<string, string[]>} */
const admitted = new Map();
for (const [path, { get }] of Object.entries(paths)) {
  const answer = get?.responses['200'].content?.['application/json']?.schema.$ref;
  const data = components.schemas[answer?.split('/').at(-1)]?.properties?.data?.$ref;
  const { actions } = components.schemas[data?.split('/').at(-1)]?.properties ?? {};
  if (actions !== undefined) {
    admitted.set(path.split('/')[1] ?? '', components.schemas[actions.items.$ref.split('/').at(-1)].enum);
  }
}

test('every list of the interface has an entry', () => {
  const listed = [...interfaces.values()].flatMap(({ lists }) => Object.keys(lists));
  const onAccount = '/users/{id}/sessions'; // the account screen shows those of the person
  assert.deepEqual(new Set([...SUBJECTS.filter(({ from }) => from === undefined).map(listPath), onAccount]), new Set(listed));
});

for (const subject of SUBJECTS) {
  test(`the entry of ${subject.name} names what there is`, () => {
    const description = interfaces.get(subject.parent ?? subject.name);
    assert.ok(description);
    const list = description.lists[listPath(subject)];
    const detail = description.details[itemPath(subject)];
    const names = new Set((list ?? detail)?.fields.map(({ name }) => name));
    const detailed = new Set(detail?.fields.map(({ name }) => name) ?? names);
    assert.equal(subject.permission ?? null, list ? list.permission : null);
    assert.deepEqual(subject.columns.filter((name) => !names.has(name)), []);
    assert.ok(names.has(subject.title), subject.title);
    const known = detail?.fields ?? list?.fields ?? [];
    const tables = new Set(known.flatMap(({ name, items }) => (items?.type === 'object' ? name : [])));
    if (subject.expected !== undefined) {
      const other = subject.expected.subject;
      const lines = interfaces.get(other)?.details[`/${other}/{id}`]?.fields.find(({ name }) => name === 'lines');
      const columns = lines?.items?.fields?.map(({ name }) => name) ?? [];
      assert.deepEqual(subject.expected.columns.filter((name) => !columns.includes(name)), []);
      tables.add('expected');
    }
    const { at = 'lines', columns = [], blanks = [] } = subject.sheet ?? {};
    const ofLines = subject.expected && at === 'expected'
      ? interfaces.get(subject.expected.subject)?.details[`/${subject.expected.subject}/{id}`]?.fields
      : known;
    const ofLine = new Set(ofLines?.find(({ name }) => name === 'lines')?.items?.fields?.map(({ name }) => name));
    assert.deepEqual(columns.filter((name) => !ofLine.has(name) && name !== 'product_name'), []);
    assert.ok(blanks.length > 0 === (subject.sheet !== undefined));
    for (const action of subject.actions ?? []) {
      const { operation, when = {}, unless = {}, asks = [], sends = {} } = action;
      assert.ok(action.line === undefined || tables.has(action.at ?? 'lines'), operation);
      assert.ok((action.then ?? []).every((one) => writes.has(one)), operation);
      assert.ok(writes.has(operation), operation);
      const body = new Set(writes.get(operation)?.body?.map(({ name }) => name));
      assert.deepEqual([...asks, ...Object.keys(sends)].filter((name) => !body.has(name)), []);
      for (const [name, values] of [...Object.entries(when), ...Object.entries(unless)]) {
        const [first, ...rest] = name.split('.');
        const top = known.find((one) => one.name === first);
        const field = rest.length === 0 ? top : top?.fields?.find((one) => one.name === rest[0]);
        const isLength = top?.type === 'array' && rest[0] === 'length';
        assert.ok(field ?? isLength, `${operation}: ${name}`);
        const choices = field?.type === 'boolean' ? [true, false] : field?.choices;
        assert.deepEqual(values.filter((value) => !(choices?.some((one) => one === value) ?? true)), []);
      }
    }
    for (const { operation, field, first, asks = [], sends = {}, then = [] } of subject.together ?? []) {
      const body = new Set(writes.get(operation)?.body?.map(({ name }) => name));
      assert.deepEqual([field, ...asks, ...Object.keys(sends)].filter((name) => !body.has(name)), []);
      const ofFirst = new Set(first && writes.get(first.operation)?.body?.map(({ name }) => name));
      assert.deepEqual([first?.field, ...Object.keys(first?.sends ?? {})].filter((name) => name && !ofFirst.has(name)), []);
      assert.ok(then.every((one) => writes.has(one)), operation);
    }
    const filters = new Set(list?.filters.map(({ name }) => name));
    const finds = subject.finds ?? {};
    assert.ok(filters.has('search') === ('search' in finds), 'every search of a list is part of that over all');
    const others = new Set(['ids', ...(list === undefined ? ['id'] : []), ...(filters.has('search') ? [] : ['name'])]);
    assert.deepEqual(Object.keys(finds).filter((name) => !others.has(name) && !filters.has(name)), []);
    for (const [name, target] of Object.entries(subject.links ?? {})) {
      assert.ok(detailed.has(name), name);
      assert.ok(SUBJECT.has(target), target);
    }
    for (const [key, { subject: other, filter }] of Object.entries(subject.related ?? {})) {
      const [target = '', parameter] = key.split('.');
      assert.equal(target, other);
      if (other === 'map') {
        continue; // a screen of its own
      }
      const filters = interfaces.get(other)?.lists[`/${other}`]?.filters ?? [];
      assert.ok(filters.some(({ name }) => name === parameter), key);
      assert.ok(detailed.has(filter), filter);
    }
  });
}

/**
 * Return the ends of the paths of the actions that a user with id 7 and every permission may carry out.
 *
 * @param {string} name
 * @param {Record<string, unknown>} resource
 */
function offered(name, resource) {
  const every = new Set([...writes.values()].map(({ permission }) => permission ?? ''));
  const merged = { lists: {}, details: {}, actions: Object.fromEntries(writes) };
  const subject = /** @type {any} */ (SUBJECT.get(name));
  return allowedActions(subject, merged, resource, every, '7').map(({ operation }) =>
    operation.split('/').at(-1),
  );
}

test('the actions that a resource names are offered, in this order', () => {
  assert.deepEqual(offered('exit-documents', { actions: ['pick', 'close'] }), ['pickings', 'pickings', 'close']);
  assert.deepEqual(offered('entry-documents', { actions: [] }), []);
  const reversed = ['revert', 'undo', 'allocate', 'start'];
  assert.deepEqual(offered('pickings', { actions: reversed }), reversed);
  assert.deepEqual(offered('transfers', { actions: ['execute'] }), ['execute', '{id}']);
  assert.deepEqual(offered('transfers', { actions: ['acknowledge'] }), ['acknowledge']);
});

test('goods are packed while some are staged, also when they cannot be dispatched', () => {
  const staged = { status: 'completed', actions: ['close'] };
  assert.deepEqual(offered('exit-documents', staged), ['packing-orders', 'close']);
  const open = { status: 'open', actions: ['pick', 'close'] };
  assert.deepEqual(offered('exit-documents', open), ['pickings', 'pickings', 'close']);
});

test('every action that a resource can name is offered', () => {
  for (const [subject, names] of admitted) {
    const known = (SUBJECT.get(subject)?.actions ?? []).map(actionName).filter((name) => name !== '');
    assert.deepEqual(names.filter((name) => !known.includes(name)), [], subject);
    assert.deepEqual(known.filter((name) => !names.includes(name)), [], subject);
  }
  assert.equal(admitted.size, 15);
});

test('what needs no form is carried out for many', () => {
  const merged = { lists: {}, details: {}, actions: Object.fromEntries(writes) };
  const every = new Set([...writes.values()].map(({ permission }) => permission ?? ''));
  const ofMany = SUBJECTS.flatMap((subject) =>
    actionsForMany(subject, merged, every).map(({ operation }) => operation.slice(5)),
  );
  assert.deepEqual(ofMany, [
    '/receipts/{id}/start',
    '/receipts/{id}/finalize',
    '/receipts/{id}/synchronize',
    '/returns/{id}/finish',
    '/pickings/{id}/start',
    '/pickings/{id}/allocate',
    '/pickings/{id}/synchronize',
    '/waves/{id}/plan',
    '/waves/{id}/release',
    '/handling-units/{id}/reopen',
    '/transfers/{id}/acknowledge',
    '/transfer-orders/{id}/release',
    '/counts/{id}/finish',
  ]);
  assert.deepEqual(actionsForMany(SUBJECTS[0] ?? assert.fail(), merged, new Set()), []);
});

test('an export and the feed call a resource by the last name of its list, in the singular', () => {
  const names = Object.fromEntries(SUBJECTS.map((subject) => [subject.name, objectOf(subject)]));
  assert.equal(names['product-categories'], 'product_category');
  assert.equal(names.stocks, 'stock');
  assert.equal(names['rfid-validations'], 'rfid_validation');
  assert.deepEqual(SUBJECTS.filter((subject) => objectOf(subject) === undefined).map(({ name }) => name), [
    'reconciliations',
    'request-log',
    'deliveries',
    'audit-log',
  ]);
});

test('an empty handling unit can be deleted, and has nothing to remove', () => {
  const actions = ['contents', 'contents', 'remove', 'close'];
  const unit = { actions, contents: [{}] };
  assert.deepEqual(offered('handling-units', unit), actions);
  assert.deepEqual(offered('handling-units', { ...unit, contents: [] }), ['contents', 'contents', 'close', '{id}']);
  assert.deepEqual(offered('handling-units', { ...unit, actions: ['reopen'] }), ['reopen']);
});

test('a previous secret is ended where there is one', () => {
  const client = { kind: 'integration', secrets: [{}] };
  assert.deepEqual(offered('api-clients', client), ['rotate-secret', '{id}']);
  const rotated = { ...client, secrets: [{}, {}] };
  assert.deepEqual(offered('api-clients', rotated), ['rotate-secret', 'previous-secret', '{id}']);
  assert.deepEqual(offered('api-clients', { kind: 'mobile', secrets: [] }), ['{id}']);
});

test('users reset the passwords of others only', () => {
  assert.deepEqual(offered('users', { id: 7, two_step: false }), ['{id}']);
  assert.deepEqual(offered('users', { id: 8, two_step: false }), ['reset-password', '{id}']);
});

test('every write of the interface is offered', () => {
  const all = SUBJECTS.flatMap(({ create, more = [], change, actions = [] }) => [
    create,
    ...more,
    change,
    ...actions.map(({ operation }) => operation),
  ]).concat(ELSEWHERE);
  // a PUT sets all fields, a PATCH those that changed: forms send what changed
  const isPatched = (/** @type {string} */ write) => writes.has(write.replace(/^PUT/, 'PATCH'));
  const missing = [...writes.keys()].filter(
    (write) => !all.includes(write) && !(write.startsWith('PUT ') && isPatched(write)),
  );
  assert.deepEqual(missing, []);
});

/**
 * @param {string} name of a subject
 * @param {string} operation
 * @returns {import('../../console/core/actions.js').Action}
 */
const actionOf = (name, operation) =>
  /** @type {any} */ (SUBJECT.get(name)?.actions?.find((one) => one.operation === operation && !one.isForAll));

test('an action at a line begins with the goods that are left, and is not offered without some', () => {
  const ordered = [
    { item_code: 'A', open_qty: 3, qty: 5, received_qty: 2 },
    { item_code: 'B', open_qty: 0, qty: 1, received_qty: 1 },
  ];
  const receive = startsAt(actionOf('receipts', 'POST /receipts/{id}/lines'), ordered);
  assert.deepEqual(receive.map(({ values }) => [values.item_code, values.qty]), [['A', 3]]);

  const line = { item_code: 'A', qty: 4, picked_qty: 1, bin_code: 'A-1', batch_num: 'L1', serials: [] };
  const [pick] = startsAt(actionOf('pickings', 'POST /pickings/{id}/picks'), [line]);
  assert.deepEqual(pick?.values, { item_code: 'A', qty: 3, bin_code: 'A-1', batch: 'L1' });
  const [undo] = startsAt(actionOf('pickings', 'POST /pickings/{id}/picks/undo'), [line]);
  assert.equal(undo?.values.qty, 1);

  const back = { item_code: 'A', qty: 9, received_qty: 8, restocked_qty: 1, quarantined_qty: 3, scrapped_qty: 0,
    lost_qty: 0, returned_to_provider_qty: 2 };
  const decide = (/** @type {object} */ values) =>
    startsAt(actionOf('returns', 'POST /returns/{id}/dispositions'), [{ ...back, ...values }]);
  assert.equal(decide({})[0]?.values.lines[0].qty, 2);
  assert.deepEqual(decide({ quarantined_qty: 5 }), []);
});

test('a form with as many lines as an action takes says how many there are besides', () => {
  const line = { item_code: 'A', qty: 5, received_qty: 4 };
  const receive = actionOf('returns', 'POST /returns/{id}/lines');
  const valuesOf = (/** @type {number} */ count) => receive.values?.({ lines: Array(count).fill(line) });
  assert.deepEqual([valuesOf(12)?.lines.length, valuesOf(12)?.others], [8, 4]);
  assert.deepEqual([valuesOf(8)?.lines.length, valuesOf(8)?.others], [8, 0]);
});

test('serials of a line are filled in if all of them or none are done', () => {
  const serials = ['S1', 'S2', 'S3'];
  const line = { item_code: 'A', qty: 3, bin_code: 'A-1', serials };
  const of = (/** @type {string} */ end, /** @type {number} */ picked) =>
    startsAt(actionOf('pickings', `POST /pickings/{id}/${end}`), [{ ...line, picked_qty: picked }])[0]?.values.serials;
  assert.deepEqual([of('picks', 0), of('picks', 1)], [serials, undefined]);
  assert.deepEqual([of('picks/undo', 1), of('picks/undo', 3)], [undefined, serials]);
  const packAll = SUBJECT.get('handling-units')?.actions?.find(({ isForAll }) => isForAll) ?? assert.fail();
  const staged = { item_code: 'A', qty: 3, serial_numbers: serials };
  assert.deepEqual(startsAt(packAll, [{ ...staged, packed_qty: 0 }])[0]?.values.serials, serials);
  assert.deepEqual(startsAt(packAll, [{ ...staged, packed_qty: 1 }]), [], 'which are left has to be scanned');
  assert.equal(startsAt(packAll, [{ item_code: 'B', qty: 3, packed_qty: 1, serial_numbers: [] }])[0]?.values.qty, 2);
});

test('serials that a line shows because they are done are not filled in for what is left', () => {
  const some = { item_code: 'A', qty: 4, bin_code: 'A-1', serial_numbers: ['S1', 'S2'], picked_qty: 2, received_qty: 2 };
  const of = (/** @type {string} */ name, /** @type {string} */ operation, line = some) =>
    startsAt(actionOf(name, operation), [line])[0]?.values;
  assert.equal(of('transfer-orders', 'POST /transfer-orders/{id}/picks')?.serials, undefined);
  assert.deepEqual(of('transfer-orders', 'POST /transfer-orders/{id}/picks/undo')?.serials, ['S1', 'S2']);
  const receive = actionOf('returns', 'POST /returns/{id}/lines');
  assert.equal(of('returns', receive.operation)?.lines[0].serials, undefined);
  assert.equal(receive.values?.({ lines: [some] }).lines[0].serials, undefined);
  const none = { ...some, qty: 2, received_qty: 0 };
  assert.deepEqual(of('returns', receive.operation, none)?.lines[0].serials, ['S1', 'S2']);
});

test('what is left of a decimal quantity has no trace of a binary fraction', () => {
  const lines = [{ item_code: 'A', qty: 0.3, picked_qty: 0.1 }, { item_code: 'A', qty: 0.3, picked_qty: 0.3 }];
  const pick = actionOf('pickings', 'POST /pickings/{id}/picks');
  assert.deepEqual(startsAt(pick, lines).map(({ values }) => values.qty), [0.2]);
  const back = { item_code: 'A', received_qty: 0.3, restocked_qty: 0.1, quarantined_qty: 0.2, scrapped_qty: 0,
    lost_qty: 0, returned_to_provider_qty: 0 };
  assert.deepEqual(startsAt(actionOf('returns', 'POST /returns/{id}/dispositions'), [back]), []);
  const receive = actionOf('receipts', 'POST /receipts/{id}/lines');
  const open = [{ item_code: 'A', open_qty: 0.1 }, { item_code: 'A', open_qty: 0.2 }];
  assert.equal(excessOf(receive, open, { item_code: 'A', qty: 0.3 }), 0);
});

test('a dialog without fields says what it does', () => {
  const wordless = SUBJECTS.flatMap(({ actions = [] }) =>
    actions
      .filter(({ operation, asks, atOnce, loses }) => {
        const fields = (writes.get(operation)?.body ?? []).filter(({ name }) => asks?.includes(name) ?? true);
        return atOnce !== true && loses === undefined && fields.length === 0;
      })
      .filter((action) => consequenceOf(action) === undefined)
      .map(({ operation }) => operation),
  );
  assert.deepEqual(wordless, []);
  assert.equal(consequenceOf(actionOf('waves', 'POST /waves/{id}/close')), 'confirm_close_wave');
  assert.equal(consequenceOf(actionOf('transfer-orders', 'POST /transfer-orders/{id}/close')), 'confirm_close_transfer_order');
  assert.equal(consequenceOf(actionOf('receipts', 'POST /receipts/{id}/lines')), undefined);
});

test('every setting that can be changed is in a group', () => {
  const fields = writes.get('PATCH /settings')?.body?.map(({ name }) => name);
  assert.deepEqual(Object.values(SETTING_GROUPS).flat().sort(), fields?.sort());
});

test('a line of a count is counted once, and then again only on purpose', () => {
  const [count, isEmpty, , , again] = SUBJECT.get('counts')?.actions ?? [];
  assert.ok(count && isEmpty && again);
  const stock = { line_num: 1, status: 'open', bin_code: 'A-1', item_code: 'A', batch_num: null,
    serial_number: 'S', inventory_status: 'available', movement_id: null };
  const empty = { ...stock, line_num: 2, bin_code: 'A-2', item_code: null };
  const counted = { ...stock, line_num: 3, status: 'counted' };
  const posted = { ...counted, line_num: 4, movement_id: 9 };
  const lines = [stock, empty, counted, posted];
  const at = (/** @type {import('../../console/core/actions.js').Action} */ action) =>
    startsAt(action, lines).map(({ line }) => line.line_num);
  assert.deepEqual([count, isEmpty, again].map(at), [[1], [2], [3]]);
  assert.deepEqual(startsAt(count, lines)[0]?.values.serials, ['S']);
  const differing = [{ ...counted, difference: -2 }, { ...posted, difference: 1 }, { ...counted, difference: 0 }];
  assert.deepEqual(actionOf('counts', 'POST /counts/{id}/post').loses?.({ lines: differing }), [
    { item_code: 'A', qty: -2 },
  ]);
  assert.deepEqual(actionOf('counts', 'POST /counts/{id}/recount').values?.({ lines: differing }), { lines: [3] });
});

test('goods are put away in the warehouse of their work', () => {
  const warehouseOf = (/** @type {string} */ name, /** @type {string} */ end, work = {}, values = {}) =>
    actionOf(name, `POST /${name}/{id}/${end}`).putsAway?.(work, values);
  assert.equal(warehouseOf('receipts', 'lines', {}, { whs_code: 'CEN' }), 'CEN');
  assert.equal(warehouseOf('returns', 'dispositions', { warehouse_code: 'DUB' }), 'DUB');
  assert.equal(warehouseOf('transfer-orders', 'receive', { from: { whs_code: 'CEN' }, to: { whs_code: 'DUB' } }), 'DUB');
});

test('what loses nothing needs no dialog, and what loses something names it', () => {
  const finalize = actionOf('pickings', 'POST /pickings/{id}/finalize');
  const isAtOnce = (/** @type {object[]} */ ...lines) =>
    typeof finalize.atOnce === 'function' && finalize.atOnce({ lines });
  assert.ok(isAtOnce({ item_code: 'A', qty: 4, picked_qty: 4 }));
  const short = { item_code: 'A', qty: 4, picked_qty: 1 };
  assert.ok(!isAtOnce(short));
  assert.deepEqual(finalize.loses?.({ lines: [short] }), [{ item_code: 'A', qty: 3 }]);
  const dispatch = actionOf('exit-documents', 'POST /exit-documents/{id}/dispatch');
  const lines = [{ item_code: 'A', open_qty: 0 }, { item_code: 'B', open_qty: 2 }];
  assert.deepEqual(dispatch.loses?.({ lines }), [{ item_code: 'B', qty: 2 }]);
});

test('what is about all lines comes before a form, and what ends something is never the main action', () => {
  const operations = (/** @type {string} */ name) => SUBJECT.get(name)?.actions ?? [];
  const ofReceipt = operations('receipts').filter(({ operation }) => /lines$|finalize|cancel/.test(operation));
  assert.equal(mainAction(ofReceipt, {})?.label, 'receive_as_ordered');
  assert.equal(mainAction(ofReceipt.filter(({ isForAll }) => !isForAll), {})?.operation, 'POST /receipts/{id}/finalize');
  assert.equal(mainAction(operations('users').slice(2), {}), undefined);
  const ofPicking = operations('pickings').filter(({ isForAll }) => !isForAll).slice(1);
  const main = (/** @type {object} */ line) => mainAction(ofPicking, { lines: [{ qty: 4, ...line }] })?.operation;
  assert.equal(main({ bin_code: null, picked_qty: 0 }), 'POST /pickings/{id}/allocate');
  assert.equal(main({ bin_code: 'A-1', picked_qty: 4 }), 'POST /pickings/{id}/finalize');
});

test('a unit is packed, then closed', () => {
  const actions = (SUBJECT.get('handling-units')?.actions ?? []).slice(1, 4); // of an open one
  const main = (/** @type {object[]} */ ...contents) => mainAction(actions, { contents })?.operation;
  assert.equal(main(), 'POST /handling-units/{id}/contents');
  assert.equal(main({ item_code: 'A', qty: 1 }), 'POST /handling-units/{id}/close');
});

test('an order is packed, then dispatched', () => {
  const order = { status: 'completed', lines: [{ item_code: 'A', open_qty: 0 }] };
  const actions = (SUBJECT.get('exit-documents')?.actions ?? []).slice(2);
  const main = (/** @type {string[]} */ ...statuses) =>
    mainAction(actions, order, { 'packing-orders': statuses.map((status) => ({ status })) })?.operation;
  assert.deepEqual([main(), main('cancelled')], ['POST /packing-orders', 'POST /packing-orders']);
  assert.equal(main('cancelled', 'packed'), 'POST /exit-documents/{id}/dispatch');
});

test('only more than the lines of a product have left is an excess', () => {
  const receive = actionOf('receipts', 'POST /receipts/{id}/lines');
  const lines = [{ item_code: 'A', open_qty: 3 }, { item_code: 'A', open_qty: 2 }];
  assert.equal(excessOf(receive, lines, { item_code: 'A', qty: 5 }), 0);
  assert.equal(excessOf(receive, lines, { item_code: 'A', qty: 50 }), 45);
  assert.equal(excessOf(receive, lines, { item_code: 'B', qty: 50 }), 0);
  assert.equal(excessOf(receive, lines, { item_code: 'A', qty: 'x' }), 0);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { bodyOf, changesOf, draftOf } from '../../console/core/draft.js';
import { language } from '../../console/core/words.js';
import { instantOf, localTime, timeZone } from '../../console/core/zone.js';

/** @type {import('../../console/core/subject.js').Field[]} */
const FIELDS = [
  { name: 'name', type: 'text' },
  { name: 'qty', type: 'number' },
  { name: 'is_active', type: 'boolean' },
  { name: 'priority', type: 'choice', choices: [1, 2, 3] },
  { name: 'due_date', type: 'date' },
  { name: 'serials', type: 'array', items: { type: 'text' } },
  { name: 'ids', type: 'array', items: { type: 'integer' } },
  { name: 'scopes', type: 'array', items: { type: 'choice', choices: ['a', 'b'] } },
  {
    name: 'lines',
    type: 'array',
    items: { type: 'object', fields: [{ name: 'qty', type: 'number' }] },
  },
  { name: 'modules', type: 'object', fields: [{ name: 'waves', type: 'boolean' }] },
];

test('a draft becomes a body of the types of the interface, without empty fields', () => {
  /** @type {import('../../console/components/fields.js').Draft} */
  const draft = {
    name: ' Box ',
    qty: '1,5',
    is_active: 'false',
    priority: '2',
    due_date: '',
    serials: 'a\n\n b ',
    ids: '7\n8',
    scopes: ['b'],
    lines: [{ qty: '3' }, { qty: '' }],
    modules: { waves: 'true' },
  };
  assert.deepEqual(bodyOf(FIELDS, draft), {
    name: ' Box ',
    qty: 1.5,
    is_active: false,
    priority: 2,
    serials: ['a', 'b'],
    ids: [7, 8],
    scopes: ['b'],
    lines: [{ qty: 3 }, {}],
    modules: { waves: true },
  });
  assert.deepEqual(bodyOf(FIELDS, {}), {});
});

test('texts by names are rows: sent as an object, and removed with null', () => {
  /** @type {import('../../console/core/subject.js').Field[]} */
  const fields = [{ name: 'metadata', type: 'texts' }];
  const before = draftOf(fields, { metadata: { a: '1', b: '2', c: '' } });
  assert.deepEqual(before, {
    metadata: [
      { name: 'a', value: '1' },
      { name: 'b', value: '2' },
      { name: 'c', value: '' },
    ],
  });
  assert.deepEqual(bodyOf(fields, before), { metadata: { a: '1', b: '2', c: '' } });
  assert.deepEqual(bodyOf(fields, { metadata: [{}, { name: ' d ', value: 'x' }, { value: 'y' }] }), {
    metadata: { d: 'x', '': 'y' },
  });
  assert.deepEqual(bodyOf(fields, { metadata: [{}] }), {});
  assert.deepEqual(changesOf(fields, before, before), {});
  /** @type {import('../../console/components/fields.js').Draft} */
  const after = { metadata: [{ name: 'b', value: '3' }, { name: 'e' }] };
  assert.deepEqual(changesOf(fields, before, after), {
    metadata: { a: null, b: '3', c: null, e: '' },
  });
  assert.deepEqual(changesOf(fields, draftOf(fields, { metadata: {} }), after), {
    metadata: { b: '3', e: '' },
  });
});

test('an address with one part emptied is sent without it, and null if nothing is left', () => {
  /** @type {import('../../console/core/subject.js').Field[]} */
  const fields = [
    {
      name: 'ship_to_address',
      type: 'object',
      fields: [
        { name: 'city', type: 'text' },
        { name: 'country', type: 'text' },
      ],
    },
  ];
  const before = draftOf(fields, { ship_to_address: { city: 'Bath', country: 'GB' } });
  const changes = (/** @type {Record<string, string>} */ address) =>
    changesOf(fields, before, { ship_to_address: address });
  assert.deepEqual(changes({ city: 'Bath', country: '' }), { ship_to_address: { city: 'Bath' } });
  assert.deepEqual(changes({ city: '', country: '' }), { ship_to_address: null });
});

test('what is no number is sent as it was written: the service names the field', () => {
  assert.deepEqual(bodyOf(FIELDS, { qty: 'many', ids: 'x' }), { qty: 'many', ids: ['x'] });
});

test('a thousand as the language writes it is a thousand', async (context) => {
  const sent = (/** @type {string[]} */ ...entries) =>
    entries.map((qty) => bodyOf(FIELDS, { qty }).qty);
  const ambiguous = ['1,000', '12.000', '1.250,5', '0,125', '0.125', '1234,567', '1.25', '1e999'];
  assert.deepEqual(
    sent(...ambiguous),
    [1000, 12, '1.250,5', 0.125, 0.125, 1234.567, 1.25, '1e999'],
  );
  context.after(() => (language.value = 'en'));
  language.value = 'es';
  assert.deepEqual(
    sent(...ambiguous),
    [1, 12000, 1250.5, 0.125, 0.125, 1234.567, 1.25, '1e999'],
  );
  const draft = draftOf(FIELDS, { qty: 1.125 });
  assert.deepEqual(draft, { qty: '1,125' });
  assert.deepEqual(bodyOf(FIELDS, draft), { qty: 1.125 });
});

test('changes have what differs, and null for what was emptied', () => {
  const resource = { name: 'Box', qty: 2, serials: ['a'], ids: [1], modules: { waves: true } };
  const before = draftOf(FIELDS, resource);
  assert.deepEqual(changesOf(FIELDS, before, before), {});
  const after = { ...before, name: '', qty: '3', serials: '', ids: ['1', '2'] };
  assert.deepEqual(changesOf(FIELDS, before, after), {
    name: null,
    qty: 3,
    serials: [],
    ids: [1, 2],
  });
});

test('what others changed of lines and texts is not changed back', () => {
  /** @type {import('../../console/core/subject.js').Field[]} */
  const lines = [
    {
      name: 'lines',
      type: 'array',
      items: { type: 'object', fields: [{ name: 'line_num', type: 'integer' }, { name: 'qty', type: 'number' }] },
    },
  ];
  const of = (/** @type {number[]} */ ...qtys) =>
    draftOf(lines, { lines: qtys.map((qty, at) => ({ line_num: at + 1, qty })) });
  const before = of(5, 6, 7);
  const after = /** @type {any} */ (of(5, 9, 7));
  after.lines.push({ qty: '1' });
  const sent = (/** @type {any} */ now) =>
    /** @type {any} */ (changesOf(lines, before, after, now)).lines.map((/** @type {any} */ one) => one.qty);
  assert.deepEqual(sent(before), [5, 9, 7, 1], 'a problem names a line by its place in the form');
  assert.deepEqual(sent(of(4, 8, 3, 2)), [4, 9, 3, 1]);
  assert.deepEqual(changesOf(lines, before, before, of(4, 8, 3, 2)), {});

  /** @type {import('../../console/core/subject.js').Field[]} */
  const texts = [{ name: 'metadata', type: 'texts' }];
  const [first, second] = [{ a: '1', b: '2' }, { a: '1', b: '3' }].map((metadata) => draftOf(texts, { metadata }));
  assert.deepEqual(changesOf(texts, first ?? {}, second ?? {}), { metadata: { b: '3' } });
});

test('a resource and its draft have the same values', () => {
  const resource = {
    name: 'Box',
    qty: 0,
    is_active: true,
    priority: 1,
    due_date: '2026-03-01',
    serials: ['a', 'b'],
    ids: [4],
    scopes: ['a'],
    lines: [{ qty: 1 }],
    modules: { waves: false },
  };
  assert.deepEqual(bodyOf(FIELDS, draftOf(FIELDS, resource)), resource);
});

test('an instant is shown in the zone of the company and sent in UTC', () => {
  timeZone.value = 'America/New_York';
  /** @type {import('../../console/core/subject.js').Field[]} */
  const fields = [{ name: 'at', type: 'date-time' }];
  const draft = draftOf(fields, { at: '2026-03-01T09:30:00.000Z' });
  assert.deepEqual(draft, { at: '2026-03-01T04:30:00' });
  assert.deepEqual(bodyOf(fields, draft), { at: '2026-03-01T09:30:00.000Z' });
  assert.deepEqual(bodyOf(fields, { at: '2026-03-08T03:00' }), { at: '2026-03-08T07:00:00.000Z' });
  assert.deepEqual(bodyOf(fields, { at: 'soon' }), { at: 'soon' });
});

test('what is no instant, or in no year of the interface, stays as it was written', () => {
  timeZone.value = 'Europe/Madrid';
  assert.equal(localTime('soon'), 'soon');
  for (const text of ['soon', '0001-01-01T00:00', '9999-12-31T23:59:59', '20266-01-01T10:00']) {
    assert.equal(instantOf(text), text);
  }
});

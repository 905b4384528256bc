import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

import { actionName, allowedActions, itemPath, listPath } from '../../console/core/subject.js';
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
  assert.deepEqual(new Set([...SUBJECTS.map(listPath), onAccount]), new Set(listed));
});

for (const subject of SUBJECTS) {
  test(`the entry of ${subject.name} names what there is`, () => {
    const description = interfaces.get(subject.parent ?? subject.name);
    assert.ok(description);
    const list = description.lists[listPath(subject)];
    const names = new Set(list?.fields.map(({ name }) => name));
    const detail = description.details[itemPath(subject)];
    const detailed = new Set(detail?.fields.map(({ name }) => name) ?? names);
    assert.equal(subject.permission ?? null, list?.permission);
    assert.deepEqual(subject.columns.filter((name) => !names.has(name)), []);
    assert.ok(names.has(subject.title), subject.title);
    const known = detail?.fields ?? list?.fields ?? [];
    for (const { operation, when = {}, unless = {}, asks = [], sends = {} } of subject.actions ?? []) {
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
  assert.deepEqual(offered('exit-documents', { actions: ['pick', 'close'] }), ['pickings', 'close']);
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
  assert.deepEqual(offered('exit-documents', open), ['pickings', 'close']);
});

test('every action that a resource can name is offered', () => {
  for (const [subject, names] of admitted) {
    const known = (SUBJECT.get(subject)?.actions ?? []).map(actionName).filter((name) => name !== '');
    assert.deepEqual(names.filter((name) => !known.includes(name)), [], subject);
    assert.deepEqual(known.filter((name) => !names.includes(name)), [], subject);
  }
  assert.equal(admitted.size, 14);
});

test('an empty handling unit can be deleted, and has nothing to remove', () => {
  const actions = ['contents', 'remove', 'close'];
  const unit = { actions, contents: [{}] };
  assert.deepEqual(offered('handling-units', unit), actions);
  assert.deepEqual(offered('handling-units', { ...unit, contents: [] }), ['contents', 'close', '{id}']);
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

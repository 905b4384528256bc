import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';

import { itemPath, listPath } from '../../console/core/subject.js';
import { SUBJECT, SUBJECTS } from '../../console/subjects.js';

const FOLDER = new URL('../../console/interface/', import.meta.url);

/** Writes that a screen of its own offers. */
const ELSEWHERE = new Set([
  'POST /imports/uploads',
  'PATCH /settings',
  'PUT /warehouses/{id}/layout',
  'PUT /products/{id}/packaging',
  'POST /users/{id}/password',
  'POST /users/{id}/totp',
  'POST /users/{id}/totp/confirm',
  'POST /users/{id}/totp/recovery-codes',
]);

/** @type {Map<string, import('../../console/core/subject.js').Interface>} */
const interfaces = new Map();
for (const file of readdirSync(FOLDER).filter((name) => name.endsWith('.js'))) {
  interfaces.set(file.replace('.js', ''), (await import(new URL(file, FOLDER).href)).default);
}
const writes = new Map(
  [...interfaces.values()].flatMap(({ actions }) => Object.entries(actions)),
);

test('every list of the interface has an entry', () => {
  const listed = [...interfaces.values()].flatMap(({ lists }) => Object.keys(lists));
  assert.deepEqual(new Set(SUBJECTS.map(listPath)), new Set(listed));
});

for (const subject of SUBJECTS) {
  test(`the entry of ${subject.name} names what there is`, () => {
    const description = interfaces.get(subject.parent ?? subject.name);
    assert.ok(description);
    const list = description.lists[listPath(subject)];
    const names = new Set(list?.fields.map(({ name }) => name));
    const detail = description.details[itemPath(subject)];
    const detailed = new Set(detail?.fields.map(({ name }) => name) ?? names);
    assert.deepEqual(subject.columns.filter((name) => !names.has(name)), []);
    assert.ok(names.has(subject.title), subject.title);
    for (const { operation, when = {} } of subject.actions ?? []) {
      assert.ok(writes.has(operation), operation);
      for (const [name, values] of Object.entries(when)) {
        const field = detail?.fields.find((one) => one.name === name);
        assert.ok(field, `${operation}: ${name}`);
        assert.deepEqual(values.filter((value) => !field.choices?.some((one) => one === value)), []);
      }
    }
    for (const [name, target] of Object.entries(subject.links ?? {})) {
      assert.ok(detailed.has(name.split('.')[0] ?? ''), name);
      assert.ok(SUBJECT.has(target), target);
    }
    for (const [key, { subject: other, filter }] of Object.entries(subject.related ?? {})) {
      const [target = '', parameter] = key.split('.');
      assert.equal(target, other);
      const filters = interfaces.get(other)?.lists[`/${other}`]?.filters ?? [];
      assert.ok(filters.some(({ name }) => name === parameter), key);
      assert.ok(detailed.has(filter), filter);
    }
  });
}

test('every write of the interface is offered', () => {
  const offered = SUBJECTS.flatMap(({ create, more = [], change, actions = [] }) => [
    create,
    ...more,
    change,
    ...actions.map(({ operation }) => operation),
  ]);
  const missing = [...writes.keys()].filter(
    (write) => !offered.includes(write) && !ELSEWHERE.has(write),
  );
  // a PUT sets all fields, a PATCH those that changed: forms send what changed
  assert.deepEqual(
    missing.filter((write) => !write.startsWith('PUT ')),
    [],
  );
});

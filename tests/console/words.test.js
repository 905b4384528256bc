import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

import { fieldHint, region, text, useLanguage, valueLabel, verbOf } from '../../console/core/words.js';
import { SUBJECTS } from '../../console/subjects.js';
import en from '../../console/words/en.js';
import es from '../../console/words/es.js';

/** @typedef {import('../../console/core/subject.js').Field} Field */
/** @typedef {'texts' | 'subjects' | 'fields' | 'hints' | 'values' | 'actions' | 'errors'} Table */

const CONSOLE = new URL('../../console/', import.meta.url);
const CODES = new URL('../../docs/reference/errors.md', import.meta.url);

const files = readdirSync(CONSOLE, { encoding: 'utf8', recursive: true });
const sources = files
  .filter((file) => /^(main|(core|components|screens)\/.*)\.js$/.test(file))
  .map((file) => readFileSync(new URL(file, CONSOLE), 'utf8'))
  .join('\n');

const fields = new Set();
const choices = new Set();
/** Choices with the fields that have them: `strategy.batch` may have words of its own. */
const ofFields = new Set();
const operations = new Set();
for (const file of files.filter((name) => /^interface\/.*\.js$/.test(name))) {
  /** @type {import('../../console/core/subject.js').Interface} */
  const { lists, details, actions } = (await import(new URL(file, CONSOLE).href)).default;
  for (const list of Object.values(lists)) {
    list.fields.forEach(collect);
    list.filters.forEach(collect);
  }
  Object.values(details).forEach((detail) => detail.fields.forEach(collect));
  for (const { name, body } of Object.values(actions)) {
    operations.add(name);
    body?.forEach(collect);
  }
}

/** @param {Omit<Field, 'name'> & {name?: string}} field */
function collect({ name, choices: ofField, fields: parts, items }) {
  if (name !== undefined) {
    fields.add(name);
  }
  ofField?.forEach((choice) => {
    choices.add(String(choice));
    ofFields.add(`${name}.${choice}`);
  });
  parts?.forEach(collect);
  if (items !== undefined) {
    collect(items);
  }
}

/** What each table is asked for. @type {Record<Table, Set<string>>} */
const asked = {
  texts: new Set([...quotedNames(), ...SUBJECTS.map(({ group }) => `group_${group}`)]),
  subjects: new Set([...SUBJECTS.map(({ name }) => name), ...argumentsOf('subjectLabel')]),
  fields: new Set([...fields, ...secretNames()]),
  hints: fields,
  values: new Set([...choices, ...SUBJECTS.flatMap(({ kind = [] }) => kind)]),
  actions: new Set([
    ...operations,
    ...SUBJECTS.flatMap(({ sheet }) => sheet?.label ?? []),
    ...SUBJECTS.flatMap(({ together = [] }) => together.map(({ label }) => label)),
    ...SUBJECTS.flatMap(({ files: printed = [] }) => printed.map(({ label }) => label)),
    ...SUBJECTS.flatMap(({ actions = [] }) =>
      actions.flatMap(({ label, lineLabel }) => [label, lineLabel].filter((one) => one !== undefined)),
    ),
  ]),
  errors: new Set(readFileSync(CODES, 'utf8').match(/^## \w+$/gm)?.map((line) => line.slice(3))),
};

/** Return the quoted words of the screens: the keys of texts are some of them. */
function quotedNames() {
  return [...sources.matchAll(/'(\w+)'/g)].map(([, name = '']) => name);
}

/** @param {string} label function that looks a word up */
function argumentsOf(label) {
  const calls = new RegExp(`\\b${label}\\('([\\w-]+)'\\)`, 'g');
  return [...sources.matchAll(calls)].map(([, name = '']) => name);
}

/** Return the names of the secrets that a write shows once, which are in no list. */
function secretNames() {
  const list = /^const NAMES = \[('client_secret'.*)\];$/m.exec(sources)?.[1] ?? '';
  return [...list.matchAll(/'(\w+)'/g)].map(([, name = '']) => name);
}

/**
 * @param {Iterable<string>} names
 * @param {object} table
 */
const without = (names, table) => [...names].filter((name) => !Object.hasOwn(table, name));
/** @param {object} table */
const actionsWithout = (table) =>
  without(asked.actions, table).filter((name) => !Object.hasOwn(table, verbOf(name)));
const verbs = new Set([...operations].map(verbOf));

test('English has a word for every subject and action', () => {
  assert.deepEqual(without(asked.subjects, en.subjects), []);
  assert.deepEqual(actionsWithout(en.actions), []);
});

test('Spanish has a word for every subject, field, choice and action', () => {
  assert.deepEqual(without(asked.subjects, es.subjects), []);
  assert.deepEqual(without(asked.fields, es.fields), []);
  // names of events and scopes are the same in every language
  assert.deepEqual(without(asked.values, es.values).filter((name) => !/[.:]/.test(name)), []);
  assert.deepEqual(actionsWithout(es.actions), []);
});

for (const [language, words] of Object.entries({ en, es })) {
  test(`every word of ${language}.js is used`, () => {
    for (const [table, names] of Object.entries(asked)) {
      const unused = Object.keys(words[/** @type {Table} */ (table)]).filter(
        (name) =>
          !names.has(name) &&
          !(table === 'values' && ofFields.has(name)) &&
          !(table === 'actions' && verbs.has(name)),
      );
      assert.deepEqual(unused, [], table);
    }
  });

  test(`no word of ${language}.js is empty`, () => {
    const all = Object.values(words).flatMap((table) => Object.entries(table));
    assert.deepEqual(all.filter(([, word]) => word.trim() === ''), []);
  });
}

test('a value means what the field that has it means', async () => {
  await useLanguage('es');
  assert.equal(valueLabel('batch', 'strategy'), 'Lote de pedidos');
  assert.equal(valueLabel('batch', 'pick_substitution'), 'Lote');
});

test('the pickings of a new packing order have no hint: that of a wave is another one', async () => {
  await useLanguage('en');
  const { default: description } = await import(new URL('interface/packing-orders.js', CONSOLE).href);
  const { body } = description.actions['POST /packing-orders'];
  assert.deepEqual(body.flatMap((/** @type {Field} */ { name }) => fieldHint(name) ?? []), []);
});

test('a count of one has a form of its own', async () => {
  await useLanguage('en');
  assert.equal(text('items', { count: 1 }), '1 entry');
  assert.equal(text('items', { count: 0 }), '0 entries');
});

test('the region is that of the first language of the browser that is the chosen one', async () => {
  await useLanguage('en');
  assert.equal(region(['es-MX', 'en-GB', 'en-US']), 'en-GB');
  assert.equal(region(['es-MX']), 'en');
});

test('both languages have the same texts, hints and errors, with the same placeholders', () => {
  const placeholders = (/** @type {string} */ text) => (text.match(/\{\w+\}/g) ?? []).sort();
  for (const table of /** @type {const} */ (['texts', 'hints', 'errors'])) {
    /** @type {[Record<string, string>, Record<string, string>]} */
    const [english, spanish] = [en[table], es[table]];
    assert.deepEqual(Object.keys(spanish).sort(), Object.keys(english).sort());
    for (const [key, sentence] of Object.entries(english)) {
      assert.deepEqual(placeholders(spanish[key] ?? ''), placeholders(sentence), key);
    }
  }
});

/**
 * Between what a person writes in a form and the body of a request.
 *
 * The service checks every value, and its problems name the fields. So what is no number is sent as
 * it was written, instead of being judged twice.
 */

import { region } from './words.js';
import { instantOf, localTime } from './zone.js';

/**
 * @typedef {import('./subject.js').Field} Field
 * @typedef {import('../components/fields.js').Draft} Draft
 * @typedef {import('../components/fields.js').Entry} Entry
 */

/**
 * Return the body of a draft. Empty fields are left out.
 *
 * @param {readonly Field[]} fields
 * @param {Draft} draft
 * @returns {Record<string, unknown>}
 */
export function bodyOf(fields, draft) {
  /** @type {Record<string, unknown>} */
  const body = {};
  for (const field of fields) {
    const value = valueOf(field, draft[field.name]);
    if (value !== undefined) {
      body[field.name] = value;
    }
  }
  return body;
}

/**
 * Return what changed: the body of a PATCH. A field that was emptied is null. Of lines that are sent
 * together, those that stayed are sent as they are now, not as they were before.
 *
 * @param {readonly Field[]} fields
 * @param {Draft} before
 * @param {Draft} after
 * @param {Draft} [now] with what others changed meanwhile
 * @returns {Record<string, unknown>}
 */
export function changesOf(fields, before, after, now = before) {
  /** @type {Record<string, unknown>} */
  const changes = {};
  for (const field of fields) {
    const entry = after[field.name];
    if (isSame(entry, before[field.name])) {
      continue;
    }
    if (field.type === 'texts') {
      const texts = textsOf(before[field.name]);
      const removed = Object.keys(texts).map((name) => [name, null]);
      const all = { ...Object.fromEntries(removed), ...textsOf(entry) };
      changes[field.name] = Object.fromEntries(Object.entries(all).filter(([name, text]) => text !== texts[name]));
    } else {
      const [own, others] = [before, now].map((draft) => linesIn(draft[field.name]));
      const sent = Array.isArray(entry)
        ? entry.map((row) => (isNumbered(row) && isSame(row, own?.get(row.line_num)) ? (others?.get(row.line_num) ?? row) : row))
        : entry;
      changes[field.name] = valueOf(field, /** @type {Entry | undefined} */ (sent)) ?? (field.type === 'array' ? [] : null);
    }
  }
  return changes;
}

/**
 * @param {unknown} one
 * @param {unknown} other
 */
const isSame = (one, other) => JSON.stringify(one) === JSON.stringify(other);

/**
 * @param {string | Draft} row
 * @returns {row is Draft & {line_num: string}} whether it is a line that there is
 */
const isNumbered = (row) => typeof row !== 'string' && Boolean(row.line_num);

/**
 * Return the lines of a draft by their numbers.
 *
 * @param {Entry | undefined} entry
 */
function linesIn(entry) {
  const rows = Array.isArray(entry) ? /** @type {(string | Draft)[]} */ (entry).filter(isNumbered) : [];
  return new Map(rows.map((row) => [row.line_num, row]));
}

/**
 * Return the draft that shows a resource.
 *
 * @param {readonly Field[]} fields
 * @param {Record<string, unknown>} resource
 * @returns {Draft}
 */
export function draftOf(fields, resource) {
  /** @type {Draft} */
  const draft = {};
  for (const field of fields) {
    const entry = entryOf(field, resource[field.name]);
    if (entry !== undefined) {
      draft[field.name] = entry;
    }
  }
  return draft;
}

/**
 * @param {Omit<Field, 'name'>} field
 * @param {Entry | undefined} entry
 * @returns {unknown} undefined if the field is empty
 */
function valueOf(field, entry) {
  if (entry === undefined || entry === '') {
    return undefined;
  }
  if (field.type === 'texts') {
    const texts = textsOf(entry);
    return Object.keys(texts).length > 0 ? texts : undefined;
  }
  if (typeof entry !== 'string') {
    return valueOfParts(field, entry);
  }
  switch (field.type) {
    case 'boolean':
      return entry === 'true';
    case 'number':
    case 'integer':
      return numberOf(entry);
    case 'choice':
      return field.choices?.find((choice) => String(choice) === entry) ?? entry;
    case 'date-time':
      return instantOf(entry);
    case 'array':
      return linesOf(entry).map((line) => valueOf(field.items ?? { type: 'text' }, line));
    default:
      return entry;
  }
}

/**
 * @param {Omit<Field, 'name'>} field
 * @param {Exclude<Entry, string>} entry
 */
function valueOfParts(field, entry) {
  if (entry instanceof File) {
    return entry;
  }
  if (Array.isArray(entry)) {
    const items = field.items;
    const values = entry.map((one) =>
      typeof one === 'string' ? valueOf(items ?? { type: 'text' }, one) : bodyOf(items?.fields ?? [], one),
    );
    return values.length > 0 ? values : undefined;
  }
  if (typeof entry === 'boolean') {
    return entry;
  }
  const body = bodyOf(field.fields ?? [], entry);
  return Object.keys(body).length > 0 ? body : undefined;
}

/**
 * Return the texts that the rows of a draft have, by their names.
 *
 * @param {Entry | undefined} entry
 * @returns {Record<string, string>}
 */
function textsOf(entry) {
  const rows = Array.isArray(entry) ? /** @type {Draft[]} */ (entry) : [];
  return Object.fromEntries(
    rows
      .map(({ name, value }) => [String(name ?? '').trim(), String(value ?? '')])
      .filter(([name, value]) => name !== '' || value !== ''),
  );
}

/**
 * Return a number as a person writes it, with a point or a comma before the decimals; the text
 * itself if it is none. `1,500` is one and a half thousand where commas separate thousands.
 *
 * @param {string} entry
 */
function numberOf(entry) {
  const trimmed = entry.trim();
  const isThousands = /^[+-]?[1-9]\d{0,2}([.,]\d{3})+([.,]\d+)?$/.test(trimmed);
  const [whole = '', decimals = '0', ...rest] = trimmed.split(decimalMark());
  const value = Number(isThousands ? `${whole.replaceAll(/[.,]/g, '')}.${decimals}` : trimmed.replace(',', '.'));
  return trimmed === '' || rest.length > 0 || !Number.isFinite(value) ? entry : value;
}

/** @returns {string} what the language writes before decimals: a point or a comma */
function decimalMark() {
  return new Intl.NumberFormat(region()).format(0.5).charAt(1);
}

/** @param {string} entry */
function linesOf(entry) {
  return entry
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
}

/**
 * @param {Omit<Field, 'name'>} field
 * @param {unknown} value
 * @returns {Entry | undefined}
 */
function entryOf(field, value) {
  if (value === null || value === undefined) {
    return undefined;
  }
  if (field.type === 'array' && Array.isArray(value)) {
    const { items } = field;
    if (items?.type === 'object') {
      return value.map((one) => draftOf(items.fields ?? [], one));
    }
    return items?.type === 'text' ? value.join('\n') : value.map(String);
  }
  if (field.type === 'texts') {
    return Object.entries(value).map(([name, text]) => ({ name, value: text }));
  }
  if (field.type === 'object') {
    return draftOf(field.fields ?? [], /** @type {Record<string, unknown>} */ (value));
  }
  if (field.type === 'date-time') {
    return localTime(String(value));
  }
  return field.type === 'number' ? String(value).replace('.', decimalMark()) : String(value);
}

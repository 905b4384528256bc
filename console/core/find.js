/**
 * What one search over all subjects asks the service for, and which of the answers was meant.
 */

import { readScan } from './gs1.js';
import { valueLabel } from './words.js';

/** @typedef {import('./subject.js').Subject} Subject */

/**
 * @typedef {object} Question
 * @property {Subject} subject
 * @property {Record<string, string | number>} query of its list
 * @property {boolean} isList the answer is shown as a list: its rows have no details, or are about what
 *   else is found
 * @property {string} [id] of the one that is read: the subject has no list
 * @property {string} [named] only rows are meant that have it in their name: the list has no search
 */

/**
 * @typedef {object} Hits
 * @property {Question} question
 * @property {readonly Record<string, any>[]} rows
 * @property {number} total
 * @property {number} [listed] rows of the list that the link to all shows, if it has others, too
 */

/** Rows of a subject that are shown. */
export const MOST = 5;

/** Rows that are read of a list without a search, to compare their names: more than a company can have. */
const ALL = 100;

/** Characters from which on lists are asked while a person writes. */
const LEAST = 2;

/**
 * Return the questions for what a person wrote or scanned, by the property `finds` of the subjects.
 *
 * @param {readonly Subject[]} subjects those that the person may read
 * @param {string} written
 * @param {boolean} isEntered whether it is complete: only then exact values are asked for
 * @returns {Question[]}
 */
export function questions(subjects, written, isEntered) {
  const trimmed = written.trim();
  const values = valuesOf(trimmed, isEntered);
  const [, word = '', number = ''] = /^(\D*\S) +0*([1-9]\d{0,11})$/.exec(trimmed) ?? [];
  return subjects.flatMap((subject) =>
    Object.entries(subject.finds ?? {}).flatMap(([filter, part]) => {
      const isOfKind = part === 'kind' && isWord(word, valueLabel(subject.kind));
      return (isOfKind ? [number] : (values[part] ?? [])).map((value) => ({
        subject,
        query: filter === 'name' ? { per_page: ALL } : { [filter]: value, per_page: part === 'whole' ? 1 : MOST },
        isList: part === 'whole',
        ...(filter === 'name' ? { named: value } : {}),
        ...(filter === 'id' ? { id: value } : {}),
      }));
    }),
  );
}

/**
 * Return the values for each part that `finds` may name.
 *
 * @param {string} text
 * @param {boolean} isEntered
 * @returns {Record<string, readonly string[]>}
 */
function valuesOf(text, isEntered) {
  if (text.length < LEAST) {
    return {};
  }
  const scan = readScan(text);
  const isPlain = scan.text !== undefined || /^\d+$/.test(text);
  const [, prefix = '', number = ''] = /^([a-z]{2,3})-0*(\d{1,12})$/i.exec(text) ?? [];
  const exact = scan.text === undefined ? [] : [scan.text];
  return {
    text: isPlain ? [scan.text ?? text] : [],
    entered: isEntered ? exact : [],
    gtin: isEntered && scan.gtin !== undefined ? [scan.gtin] : [],
    sscc: scan.sscc === undefined ? [] : [scan.sscc],
    batch: isEntered && scan.gtin === undefined && scan.batch !== undefined ? [scan.batch] : [],
    whole: isEntered ? exact : [],
    ...(Number(number) > 0 ? { [prefix.toUpperCase()]: [number] } : {}),
  };
}

/** Filters that name one resource. */
const OF_ONE = ['gtin', 'ids', 'id'];

/**
 * Return the one resource that was meant: the only one that has exactly what was written as a value of
 * its own, or the only one that was found. Null if there are several, or none.
 *
 * @param {string} written
 * @param {readonly Hits[]} found
 */
export function meant(written, found) {
  const scan = readScan(written.trim());
  const wanted = new Set([scan.sscc, written.trim()].map(plain));
  /** @type {Map<string, {subject: Subject, row: Record<string, any>}>} */
  const exact = new Map();
  for (const { question, rows } of found) {
    for (const row of question.isList ? [] : rows) {
      const isNamed = Object.values(row).some((value) => typeof value === 'string' && wanted.has(plain(value)));
      if (isNamed || OF_ONE.some((name) => name in question.query)) {
        exact.set(`${question.subject.name} ${row.id}`, { subject: question.subject, row });
      }
    }
  }
  if (exact.size === 1) {
    return [...exact.values()][0] ?? null;
  }
  const [first, ...others] = found.filter(({ total }) => total > 0);
  const row = first?.rows[0];
  const isOnly = others.length === 0 && first?.total === 1 && !first.question.isList;
  return isOnly && row !== undefined ? { subject: first.question.subject, row } : null;
}

/** @param {string | undefined} value */
function plain(value) {
  return (value ?? '').toLowerCase() || undefined;
}

/**
 * Return whether somebody wrote a word, perhaps without its accents.
 *
 * @param {string} written
 * @param {string} word
 */
function isWord(written, word) {
  return written.localeCompare(word, undefined, { sensitivity: 'base' }) === 0;
}

/**
 * Return whether a name has what is written in it.
 *
 * @param {unknown} name
 * @param {string} written
 */
export function isCalled(name, written) {
  return String(name).toLowerCase().includes(written.toLowerCase());
}

/**
 * Return what is shown of a row beside its name: its reference, and texts of its columns.
 *
 * @param {Subject} subject
 * @param {Record<string, any>} row
 * @returns {{name: string, value: string}[]}
 */
export function beside({ columns, title }, row) {
  const names = ['external_ref', ...columns].filter((name) => name !== title && !/_(at|date)$/.test(name));
  return [...new Set(names)]
    .map((name) => ({ name, value: textOf(row[name]) }))
    .filter(({ value }) => value !== '')
    .slice(0, 3);
}

/** @param {unknown} value */
function textOf(value) {
  if (typeof value === 'string') {
    return value;
  }
  const { doc_num, external_ref } = /** @type {Record<string, unknown>} */ (value ?? {});
  return [doc_num, external_ref].filter((one) => one != null).join(' ');
}

/**
 * The words of the console, in the language of the person. Each language is one file.
 */

import { signal } from '../vendor/signals-core.js';

/** @typedef {typeof import('../words/en.js').default} Words */

export const LANGUAGES = /** @type {const} */ ({ en: 'English', es: 'Español' });

/** @typedef {keyof typeof LANGUAGES} Language */

const STORED = 'stowage.language';

export const language = signal(/** @type {Language} */ ('en'));

/** The words of that language. What shows one is drawn again when the language changes. */
const words = signal(/** @type {Words} */ ({}));

/**
 * Load a language and use it from now on.
 *
 * @param {Language} chosen
 */
export async function useLanguage(chosen) {
  words.value = (await import(`../words/${chosen}.js`)).default;
  language.value = chosen;
}

/**
 * Return the language that a person chose before, or the first one of the browser that there is.
 *
 * @param {Pick<Storage, 'getItem'>} storage
 * @param {readonly string[]} preferred languages of the browser
 * @returns {Language}
 */
export function chosenLanguage(storage, preferred) {
  const wanted = [storage.getItem(STORED) ?? '', ...preferred.map((one) => one.split('-')[0] ?? '')];
  return wanted.find(isLanguage) ?? 'en';
}

/** @param {Language} chosen */
export function rememberLanguage(chosen) {
  localStorage.setItem(STORED, chosen);
}

/**
 * Return the language with the region that the browser names, such as `en-GB`: dates and numbers are
 * written as there.
 *
 * @param {readonly string[]} preferred languages of the browser
 */
export function region(preferred = globalThis.navigator?.languages ?? []) {
  return preferred.find((one) => one.split('-')[0] === language.value) ?? language.value;
}

/**
 * Return a sentence; `{name}` in it is replaced by the value of that name. Of two forms, separated
 * by a bar, the first one is for a count of one.
 *
 * @param {keyof Words['texts']} key
 * @param {Record<string, string | number>} [values]
 */
export function text(key, values) {
  return filled(words.value.texts[key], values);
}

/**
 * Return a sentence with its values, as `text` does.
 *
 * @param {string} sentence
 * @param {Record<string, string | number>} [values]
 */
export function filled(sentence, values = {}) {
  const [one = '', others = one] = sentence.split('|');
  return (values.count === 1 ? one : others).replace(/\{(\w+)\}/g, (_, name) => String(values[name] ?? ''));
}

/** @param {string} name name of a field of the interface */
export function fieldLabel(name) {
  return lookUp(words.value.fields, name);
}

/** @param {string} name name of a field; null if its label says enough */
export function fieldHint(name) {
  return /** @type {Record<string, string>} */ (words.value.hints)[name] ?? null;
}

/**
 * @param {unknown} value word of the interface, such as `in_transit`
 * @param {string} [field] that has it: some words mean something else in another field
 */
export function valueLabel(value, field) {
  const { values } = words.value;
  const own = `${field}.${value}`;
  return Object.hasOwn(values, own) ? (values[own] ?? own) : lookUp(values, String(value));
}

/** @param {string} name of a subject, in the plural */
export function subjectLabel(name) {
  return lookUp(words.value.subjects, name);
}

/**
 * Return the words of an operation, or those of its verb.
 *
 * @param {string} operation operation id, such as `finalize_receipt`
 */
export function actionLabel(operation) {
  const { actions } = words.value;
  return lookUp(actions, Object.hasOwn(actions, operation) ? operation : verbOf(operation));
}

/** @param {string} operation operation id */
export function verbOf(operation) {
  return operation.split('_')[0] ?? operation;
}

/** @param {string} code code of an error; null if there are no words for it */
export function errorLabel(code) {
  return /** @type {Record<string, string>} */ (words.value.errors)[code] ?? null;
}

/**
 * @param {Record<string, string>} table
 * @param {string} name
 */
function lookUp(table, name) {
  return Object.hasOwn(table, name) ? (table[name] ?? name) : humanized(name);
}

/**
 * Return a name of the interface as English words: `due_date` is "Due date". Names of events and
 * scopes, such as `stock.updated`, stay as they are in every language.
 *
 * @param {string} name
 */
export function humanized(name) {
  if (/[.:]/.test(name)) {
    return name;
  }
  const spaced = name.replaceAll(/[_-]/g, ' ');
  return spaced.charAt(0).toUpperCase() + spaced.slice(1);
}

/**
 * @param {string} one
 * @returns {one is Language}
 */
function isLanguage(one) {
  return Object.hasOwn(LANGUAGES, one);
}

/**
 * What the browser remembers of the lists of a person, for each company: columns, rows per page, the
 * filters that were set last, and those that have a name.
 */

/**
 * @typedef {Record<string, string>} Query as an address has it
 *
 * @typedef {object} Remembered
 * @property {Query} view columns and rows per page
 * @property {Query} filters search, filters and order
 * @property {Record<string, Query>} saved name → filters
 */

/** Parameters of an address that say how a list is shown, not what of it. */
const OF_VIEW = new Set(['columns', 'per_page']);

/** Parameters that lead to a page, which changes. */
const OF_PAGE = new Set(['page', 'cursor']);

/**
 * @param {string} owner
 * @param {string} name of the list
 */
const keyOf = (owner, name) => `stowage.list ${owner} ${name}`;

/**
 * @param {Pick<Storage, 'getItem'>} storage
 * @param {string} owner of the session
 * @param {string} name of the list
 * @returns {Remembered}
 */
export function rememberedList(storage, owner, name) {
  const kept = JSON.parse(storage.getItem(keyOf(owner, name)) ?? '{}');
  return { view: {}, filters: {}, saved: {}, ...kept };
}

/**
 * @param {Pick<Storage, 'getItem' | 'setItem'>} storage
 * @param {string} owner
 * @param {string} name
 * @param {Partial<Remembered>} changes
 */
export function rememberList(storage, owner, name, changes) {
  const remembered = { ...rememberedList(storage, owner, name), ...changes };
  try {
    storage.setItem(keyOf(owner, name), JSON.stringify(remembered));
  } catch {
    // the storage of the browser is full: the list works without
  }
}

/**
 * Return whether parameters of an address say what of a list is shown.
 *
 * @param {readonly string[]} names
 */
export function hasFilters(names) {
  return names.some((name) => !OF_VIEW.has(name) && !OF_PAGE.has(name));
}

/**
 * Return what an address says about a list: how it is shown, and what of it.
 *
 * @param {Readonly<Record<string, string | number | null | undefined>>} query
 * @returns {{view: Query, filters: Query}}
 */
export function partsOf(query) {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value == null || value === '' ? [] : [/** @type {const} */ ([name, String(value)])],
  );
  return {
    view: Object.fromEntries(given.filter(([name]) => OF_VIEW.has(name))),
    filters: Object.fromEntries(given.filter(([name]) => hasFilters([name]))),
  };
}

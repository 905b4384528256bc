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
 * Return what is remembered of a list. What is not as this page keeps it, such as after a change by
 * hand, counts as nothing.
 *
 * @param {Pick<Storage, 'getItem'>} storage
 * @param {string} owner of the session
 * @param {string} name of the list
 * @returns {Remembered}
 */
export function rememberedList(storage, owner, name) {
  const { view, filters, saved } = keptIn(storage, keyOf(owner, name));
  const named = Object.entries(recordOf(saved)).map(([given, query]) => [given, queryOf(query)]);
  return { view: queryOf(view), filters: queryOf(filters), saved: Object.fromEntries(named) };
}

/**
 * @param {Pick<Storage, 'getItem'>} storage
 * @param {string} key
 * @returns {Record<string, unknown>}
 */
function keptIn(storage, key) {
  try {
    return recordOf(JSON.parse(storage.getItem(key) ?? ''));
  } catch {
    return {};
  }
}

/**
 * @param {unknown} value
 * @returns {Record<string, unknown>} empty if the value is none
 */
function recordOf(value) {
  return typeof value === 'object' && value !== null ? /** @type {Record<string, unknown>} */ (value) : {};
}

/**
 * @param {unknown} value
 * @returns {Query}
 */
function queryOf(value) {
  const texts = Object.entries(recordOf(value)).filter(([, one]) => typeof one === 'string' && one !== '');
  return /** @type {Query} */ (Object.fromEntries(texts));
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
 * Keep filters under a name, or no longer. What other tabs have kept stays.
 *
 * @param {Pick<Storage, 'getItem' | 'setItem'>} storage
 * @param {string} owner
 * @param {string} name of the list
 * @param {string} given name of the filters
 * @param {Query | null} filters null: no longer
 */
export function saveFilters(storage, owner, name, given, filters) {
  const { [given]: _, ...others } = rememberedList(storage, owner, name).saved;
  rememberList(storage, owner, name, { saved: filters === null ? others : { ...others, [given]: filters } });
}

/**
 * Forget the filters that were set last, as at a sign-out: they may search for people. What somebody
 * gave a name stays.
 *
 * @param {Storage} storage
 * @param {string} owner
 */
export function forgetFilters(storage, owner) {
  const start = keyOf(owner, '');
  Object.keys(storage)
    .filter((key) => key.startsWith(start))
    .forEach((key) => rememberList(storage, owner, key.slice(start.length), { filters: {} }));
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

/**
 * Numbers, dates and times for people: in the language of the page and the time zone of the company.
 */

/**
 * @typedef {object} Locale
 * @property {string} language such as `en`
 * @property {string | undefined} timeZone such as `Europe/Madrid`; undefined is that of the browser
 */

/** @type {Map<string, any>} */
const made = new Map();

/**
 * @template Formatter
 * @param {string} key
 * @param {() => Formatter} make
 * @returns {Formatter}
 */
function once(key, make) {
  if (!made.has(key)) {
    made.set(key, make());
  }
  return made.get(key);
}

/**
 * @param {number} value
 * @param {Locale} locale
 */
export function formatNumber(value, { language }) {
  return once(`n ${language}`, () => {
    return new Intl.NumberFormat(language, { maximumFractionDigits: 6 });
  }).format(value);
}

/**
 * Return a date such as `2026-03-01`, which has no time zone.
 *
 * @param {string} value
 * @param {Locale} locale
 */
export function formatDate(value, { language }) {
  const date = new Date(`${value}T00:00:00Z`);
  if (Number.isNaN(date.getTime())) {
    return value;
  }
  return once(`d ${language}`, () => {
    return new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeZone: 'UTC' });
  }).format(date);
}

/**
 * @param {string} value such as `2026-03-01T09:30:00.000Z`
 * @param {Locale} locale
 */
export function formatInstant(value, { language, timeZone }) {
  const instant = new Date(value);
  if (Number.isNaN(instant.getTime())) {
    return value;
  }
  return once(`t ${language} ${timeZone}`, () => {
    const zone = timeZone === undefined ? {} : { timeZone };
    return new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'short', ...zone });
  }).format(instant);
}

/**
 * Return a row of a CSV file (RFC 4180). A text that a spreadsheet would run as a formula gets an
 * apostrophe before it.
 *
 * @param {readonly unknown[]} values
 */
export function csvRow(values) {
  return `${values.map(csvCell).join(',')}\r\n`;
}

/** @param {unknown} value */
function csvCell(value) {
  if (value === null || value === undefined) {
    return '';
  }
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  const safe = typeof value === 'string' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

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

/** What a spreadsheet may read as the start of a formula: at the start of a cell, and after every
 * character that separates cells somewhere. Full-width signs count in East Asian settings. */
const FORMULA = /(^|[\t\r\n,;|])(?=[=+\-@\t\r＝＋－＠])/g;

/**
 * Return the content of a file of rows that spreadsheets open in columns in every region.
 *
 * Whether Excel separates cells of a UTF-8 file by commas or semicolons depends on the region of the
 * computer. Text in UTF-16 with a byte order mark is separated by tabs everywhere.
 *
 * @param {readonly (readonly unknown[])[]} rows
 */
export function csvFile(rows) {
  const text = `\ufeff${rows.map(csvRow).join('')}`;
  const content = new DataView(new ArrayBuffer(text.length * 2));
  for (let index = 0; index < text.length; index += 1) {
    content.setUint16(index * 2, text.charCodeAt(index), true);
  }
  return content;
}

/**
 * Return a row of cells separated by tabs, quoted as RFC 4180 says. What a spreadsheet would run as
 * a formula gets an apostrophe before it.
 *
 * @param {readonly unknown[]} values
 */
export function csvRow(values) {
  return `${values.map(csvCell).join('\t')}\r\n`;
}

/** @param {unknown} value */
function csvCell(value) {
  if (value === null || value === undefined) {
    return '';
  }
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  const safe = typeof value === 'string' ? text.replace(FORMULA, "$1'") : text;
  return /["\t,;|\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

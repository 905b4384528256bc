/**
 * What a scan into the field of a product writes into the fields beside it.
 */

/**
 * @typedef {import('../components/fields.js').Draft} Draft
 * @typedef {import('./gs1.js').Scan} Scan
 */

/** Part of a scan → the fields that may have it. */
const FIELDS = /** @type {const} */ ({
  batch: ['batch', 'batch_num'],
  expires: ['expiry_date'],
  serial: ['serial', 'serials', 'expected_series'],
});

/** Fields with a serial number in each line. */
const SEVERAL = new Set(['serials', 'expected_series']);

/** Fields with a quantity of the goods that were scanned. */
const QUANTITIES = ['qty', 'counted_qty'];

/**
 * Return the batch, the date of expiry and the serial number of a scan, by the fields that get them.
 *
 * @param {Scan} read
 * @param {readonly string[]} names of the fields that there are
 * @param {Draft} draft
 * @returns {Draft}
 */
export function scannedParts(read, names, draft) {
  /** @type {Draft} */
  const parts = {};
  for (const [part, fields] of Object.entries(FIELDS)) {
    const value = read[/** @type {keyof typeof FIELDS} */ (part)];
    const field = fields.find((name) => names.includes(name));
    if (value !== undefined && field !== undefined) {
      parts[field] = SEVERAL.has(field) ? [...new Set([...linesOf(draft[field]), value])].join('\n') : value;
    }
  }
  return parts;
}

/**
 * Return the quantity that was scanned, by the field that gets it: the number that the scan says, or
 * that of the pack which its GTIN names, in base units. It is left open where a piece was scanned.
 *
 * @param {Scan} read
 * @param {number} units of the product in what was scanned
 * @param {readonly string[]} names of the fields that there are
 * @returns {Draft}
 */
export function scannedQty(read, units, names) {
  const field = QUANTITIES.find((name) => names.includes(name));
  const isSaid = read.units !== undefined || units !== 1;
  return field !== undefined && isSaid ? { [field]: String(units), unit: '' } : {};
}

/**
 * @param {string} name of a field
 * @returns {boolean} whether a scan adds a line to it
 */
export const isAdded = (name) => SEVERAL.has(name);

/**
 * Return whether a person changed none of the fields of parts while the service was asked.
 *
 * @param {Draft} parts
 * @param {Draft} before the draft when it was scanned
 * @param {Draft} now
 */
export const isUntouched = (parts, before, now) => Object.keys(parts).every((name) => now[name] === before[name]);

/** @param {import('../components/fields.js').Entry | undefined} entry */
function linesOf(entry) {
  return typeof entry === 'string' ? entry.split('\n').filter(Boolean) : [];
}

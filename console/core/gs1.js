/**
 * What a scan says: a plain GTIN, an element string of GS1 with parentheses or with FNC1, or an
 * address of GS1 Digital Link. Rules: GS1 General Specifications, chapters 3, 7.8 and 7.12; GS1
 * Digital Link URI syntax, chapter 4.
 */

/**
 * @typedef {object} Scan what was read; a part that the scan lacks is undefined
 * @property {string} [sscc] of 18 digits
 * @property {string} [gtin] of 14 digits
 * @property {string} [content] GTIN of 14 digits of what a logistic unit contains
 * @property {number} [units] how many of `gtin` or of `content`
 * @property {number} [weight] in kg
 * @property {string} [batch]
 * @property {string} [serial]
 * @property {string} [expires] last day of use, or else of best quality: YYYY-MM-DD
 * @property {string} [produced] YYYY-MM-DD
 * @property {boolean} [isCut] whether what follows is not read: the scanner leaves out where a part of
 *   variable length ends, and other parts may stand behind it
 * @property {string} [text] the whole scan, if it is none of GS1: a code or a number of one's own
 * @property {string} [problem] why a scan of GS1 cannot be used: `digit`, `date`, `twice` or `form`
 * @property {string} [at] the application identifier that has the problem
 */

/** What stands between two elements in the data of a scanner: FNC1. */
const SEPARATOR = '\u001d';
/** What a scanner puts before the data of GS1, and before that of other symbologies. */
const SYMBOLOGIES = /^(?:\](?:C1|d2|Q3|J1|e[0-2]))?\u001d?/;
const PLAIN_SYMBOLOGIES = /^\][A-Za-z][0-9m]/;
/** The characters of values of variable length, among them those of batches and serials. */
const TEXT = /^[!"%&'()*+,\-./0-9:;<=>?A-Z_a-z]+$/;

/** Most characters of an element. */
const LONGEST = 90;

/** First two digits → length with the identifier, of elements that need no separator behind them. */
const FIXED = {
  '00': 20, '01': 16, '02': 16, '03': 16, '04': 18, 11: 8, 12: 8, 13: 8, 14: 8, 15: 8, 16: 8, 17: 8,
  18: 8, 19: 8, 20: 4, 31: 10, 32: 10, 33: 10, 34: 10, 35: 10, 36: 10, 41: 16,
};

/** First digits of identifiers → how many digits they have. */
const LENGTHS = [
  [/^(?:0[0-4]|1[0-9]|2[0-2]|30|37|9[0-9])/, 2], [/^(?:2[3-5]|40|41|42|71)/, 3],
  [/^(?:3[1-6]|39|43|7[02]|8[0-2])/, 4],
];

/** Identifier → the property of a scan, and the most characters. */
const TEXTS = /** @type {const} */ ({ 10: ['batch', 20], 21: ['serial', 20] });
/** Identifiers of numbers of GS1 with a check digit → the property of a scan. */
const NUMBERS = /** @type {const} */ ({ '00': 'sscc', '01': 'gtin', '02': 'content' });
/** Identifiers of dates: the first one that a scan has says when the goods expire. */
const EXPIRIES = ['17', '15'];

/**
 * @param {string} number with its check digit
 */
export function hasCheckDigit(number) {
  let sum = 0;
  for (let place = 0; place < number.length; place += 1) {
    sum += Number(number.at(-1 - place)) * (place % 2 ? 3 : 1);
  }
  return sum % 10 === 0;
}

/**
 * @param {string} text what a scanner, a camera or a keyboard gave
 * @param {Date} [today]
 * @returns {Scan}
 */
export function readScan(text, today = new Date()) {
  const scan = text.trim();
  const data = scan.replace(SYMBOLOGIES, '');
  if (/^https?:\/\//i.test(data)) {
    const elements = linkElements(data);
    return elements ? scanOf(elements, today) : { text: scan };
  }
  if (/^\(\d{2,4}\)/.test(data)) {
    const elements = bracketElements(data);
    return elements ? scanOf(elements, today) : { text: scan };
  }
  if (data !== scan || data.includes(SEPARATOR)) {
    return scanOf(plainElements(data), today);
  }
  const plain = data.replace(PLAIN_SYMBOLOGIES, '');
  if (isGtin(plain)) {
    return { gtin: plain.padStart(14, '0') };
  }
  // Some scanners leave out both the name of the symbology and FNC1.
  return /^(?:00|01|02)\d{14}/.test(plain) ? scanOfUnmarked(plain, today) : { text: plain };
}

/**
 * Read data without FNC1. Where its first element of variable length ends is known only if nothing in
 * its value may be an element of its own: `10L1` and `17270228` look like batch L117270228.
 *
 * @param {string} data
 * @param {Date} today
 * @returns {Scan}
 */
function scanOfUnmarked(data, today) {
  const elements = plainElements(data);
  const last = elements.at(-1);
  const isCut = last !== undefined && !isFixed(last[0]) && mayHoldMore(elements, last[1], today);
  const found = scanOf(isCut ? elements.slice(0, -1) : elements, today);
  return found.problem ? { text: data } : { ...found, ...(isCut && { isCut }) };
}

/**
 * @param {Element[]} elements
 * @param {string} value of the last one
 * @param {Date} today
 * @returns {boolean} whether the end of the value may be an element that the data does not have yet
 */
function mayHoldMore(elements, value, today) {
  const known = new Set(elements.map(([identifier]) => identifier));
  const places = value.length > LONGEST ? [] : [...value].map((_, place) => place).slice(1);
  return places.some((place) => {
    // the last one of what stands behind reaches to the end, so it is enough to look for that
    const [[identifier, behind] = ['', ''], ...others] = plainElements(value.slice(place));
    return !known.has(identifier) && !others.length && problemOf(identifier, behind, undefined, today) === null;
  });
}

/** @param {string} text */
function isGtin(text) {
  return /^(?:\d{8}|\d{12,14})$/.test(text) && /[1-9]/.test(text) && hasCheckDigit(text);
}

/** @typedef {[identifier: string, value: string]} Element */

/**
 * @param {string} data with parentheses around identifiers
 * @returns {Element[] | null} null if they are no identifiers
 */
function bracketElements(data) {
  /** @type {Element[]} */
  const elements = [];
  // A value may have parentheses too; those of an identifier have its digits between them.
  for (const part of data.split(/(?=\((?:\d{2,4})\))/)) {
    const [, identifier = '', value = ''] = /^\((\d{2,4})\)(.*)$/s.exec(part) ?? [];
    const last = elements.at(-1);
    if (identifier.length === lengthOf(identifier)) {
      elements.push([identifier, value]);
    } else if (last) {
      last[1] += part;
    } else {
      return null;
    }
  }
  return elements;
}

/**
 * @param {string} data with FNC1 behind elements of variable length
 * @returns {Element[]}
 */
function plainElements(data) {
  /** @type {Element[]} */
  const elements = [];
  let rest = data;
  while (rest) {
    const length = lengthOf(rest);
    const fixed = FIXED[/** @type {keyof typeof FIXED} */ (rest.slice(0, 2))];
    const mark = rest.indexOf(SEPARATOR);
    const end = fixed ?? (mark < 0 ? rest.length : mark);
    elements.push([rest.slice(0, length || 2), rest.slice(length || 2, end)]);
    rest = rest.slice(rest[end] === SEPARATOR ? end + 1 : end);
  }
  return elements;
}

/** @param {string} identifier */
const isFixed = (identifier) => identifier.slice(0, 2) in FIXED;

/**
 * @param {string} text
 * @returns {number} how many digits the identifier has with which a text begins; 0 if it has none
 */
function lengthOf(text) {
  for (const [begin, length] of LENGTHS) {
    if (/** @type {RegExp} */ (begin).test(text)) {
      return /^\d+$/.test(text.slice(0, Number(length))) ? Number(length) : 0;
    }
  }
  return 0;
}

/**
 * @param {string} address
 * @returns {Element[] | null} null if it is no Digital Link of goods
 */
function linkElements(address) {
  if (!URL.canParse(address)) {
    return null;
  }
  const { pathname, searchParams } = new URL(address);
  const parts = pathname.split('/').map(decoded);
  const begin = parts.findIndex((part, place) => {
    return part in NUMBERS && /^(?:\d{8}|\d{12,14}|\d{18})$/.test(parts[place + 1] ?? '');
  });
  if (begin < 0) {
    return null;
  }
  /** @type {Element[]} */
  const elements = [];
  for (let place = begin; place + 1 < parts.length; place += 2) {
    const [identifier = '', value = ''] = parts.slice(place, place + 2);
    elements.push([identifier, identifier === '01' ? value.padStart(14, '0') : value]);
  }
  for (const [name, value] of searchParams) {
    if (name.length === lengthOf(name)) {
      elements.push([name, value]);
    }
  }
  return elements;
}

/** @param {string} part */
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/**
 * @param {Element[]} elements
 * @param {Date} today
 * @returns {Scan}
 */
function scanOf(elements, today) {
  /** @type {Scan} */
  const scan = {};
  /** @type {Map<string, string>} */
  const values = new Map();
  for (const [identifier, value] of elements) {
    const problem = problemOf(identifier, value, values.get(identifier), today);
    if (problem) {
      return { problem, at: identifier };
    }
    values.set(identifier, value);
    Object.assign(scan, partOf(identifier, value, today));
  }
  const expiry = EXPIRIES.find((identifier) => values.has(identifier));
  if (expiry) {
    scan.expires = dateOf(values.get(expiry) ?? '', today) ?? undefined;
  }
  return scan;
}

/**
 * @param {string} identifier
 * @param {string} value
 * @param {string | undefined} before the value that the same identifier had before
 * @param {Date} today
 * @returns {string | null}
 */
function problemOf(identifier, value, before, today) {
  if (before !== undefined && before !== value) {
    return 'twice';
  }
  if (identifier.length !== lengthOf(identifier) || !TEXT.test(value) || value.length > LONGEST) {
    return 'form';
  }
  const fixed = FIXED[/** @type {keyof typeof FIXED} */ (identifier.slice(0, 2))];
  if (fixed && (value.length !== fixed - identifier.length || !/^\d+$/.test(value))) {
    return 'form';
  }
  if (identifier in NUMBERS && !hasCheckDigit(value)) {
    return 'digit';
  }
  if (/^1[1-7]$/.test(identifier) && identifier !== '14' && !dateOf(value, today)) {
    return 'date';
  }
  const most = TEXTS[/** @type {keyof typeof TEXTS} */ (Number(identifier))]?.[1] ?? LONGEST;
  const isCount = identifier === '30' || identifier === '37';
  return value.length > most || (isCount && !/^\d{1,8}$/.test(value)) ? 'form' : null;
}

/**
 * @param {string} identifier
 * @param {string} value
 * @param {Date} today
 * @returns {Scan}
 */
function partOf(identifier, value, today) {
  if (identifier in NUMBERS) {
    return { [NUMBERS[/** @type {keyof typeof NUMBERS} */ (identifier)]]: value };
  }
  const text = TEXTS[/** @type {keyof typeof TEXTS} */ (Number(identifier))];
  if (text) {
    return { [text[0]]: value };
  }
  if (identifier === '30' || identifier === '37') {
    return { units: Number(value) };
  }
  if (/^310[0-5]$/.test(identifier)) {
    return { weight: Number(value) / 10 ** Number(identifier[3]) };
  }
  return identifier === '11' ? { produced: dateOf(value, today) ?? undefined } : {};
}

/**
 * @param {string} digits YYMMDD; the day 00 is the last one of the month
 * @param {Date} today
 * @returns {string | null} YYYY-MM-DD; null if there is no such day
 */
function dateOf(digits, today) {
  const [year = 0, month = 0, day = 0] = (digits.match(/\d{2}/g) ?? []).map(Number);
  const now = today.getFullYear();
  // Of the years that end with these digits, the one from 49 years ago to 50 years ahead.
  const full = now - 49 + ((((year - (now - 49)) % 100) + 100) % 100);
  const date = new Date(Date.UTC(full, day ? month - 1 : month, day));
  const isDay = month >= 1 && month <= 12 && (!day || date.getUTCDate() === day);
  return isDay ? date.toISOString().slice(0, 10) : null;
}

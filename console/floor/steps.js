/**
 * The steps of a task: what is asked next, and what a scan gives of it. A scan may give several
 * answers at once; what it gives is checked against the lines that are still open.
 */

import { exact, namedPosition, namedProduct } from './goods.js';

/**
 * @typedef {import('../core/gs1.js').Scan} Read
 * @typedef {import('./goods.js').Goods} Goods
 * @typedef {import('./goods.js').Product} Product
 * @typedef {import('./store.js').Scan} Scan
 */

/** @typedef {'position' | 'unit' | 'product' | 'batch' | 'expires' | 'serial' | 'qty' | 'target'} Ask */

/** @typedef {'position' | 'batch'} Replaced what may be taken instead of what a line names */

/**
 * @typedef {object} Line what is to do
 * @property {string} item_code
 * @property {string | null} position null: anywhere
 * @property {string | null} batch null: any
 * @property {readonly string[]} serials empty: any
 * @property {readonly string[]} [proposed] serials that were chosen for it, though others will do
 * @property {number} qty
 * @property {number} done
 * @property {string | null} [target] where the goods go
 * @property {string} [status] inventory status of the goods, in a count
 * @property {{batch: string | null, date: string}} [expiry] date that was announced, and of which batch
 */

/**
 * @typedef {object} Effect what a request adds to the lines, or takes from them
 * @property {string} item_code empty: everything at the position is done
 * @property {string | null} position
 * @property {string | null} batch
 * @property {string | null} serial
 * @property {number} qty negative for what is taken back
 * @property {string | null} [target]
 */

/**
 * @typedef {object} Entry what scans and fingers gave so far of one movement
 * @property {string} [position]
 * @property {string} [unit] code of a handling unit
 * @property {Product} [product]
 * @property {number} [scanned] units that were scanned of the product
 * @property {boolean} [isCounted] whether those are the quantity: more than one scan, or of a case
 * @property {string} [batch]
 * @property {string} [expires] empty: the goods have no date
 * @property {string} [serial]
 * @property {number} [qty] as confirmed
 * @property {string} [target] position where the goods go
 * @property {readonly Replaced[]} [instead] what of it no line names, as the company allows
 * @property {boolean} [isDamaged] whether the goods are received into quarantine
 * @property {boolean} [isEmpty] whether a count found nothing at the position
 * @property {string} [status] inventory status of goods that a count misses
 */

/**
 * @typedef {object} Kind how the steps of a kind of task differ
 * @property {readonly Ask[]} asks in their order
 * @property {boolean} isBound whether only what the lines name may be moved
 * @property {boolean} [hasExpiry] whether goods with batches are asked for their date
 */

/**
 * @typedef {object} Problem
 * @property {string} key of its words
 * @property {Record<string, string | number>} values
 */

/** @typedef {{entry: Entry} | {problem: Problem} | {unknown: Read}} Taken `unknown`: to look up */

/**
 * Return the lines with what waiting scans add to them.
 *
 * @param {readonly Line[]} lines as the service shows them
 * @param {readonly Effect[]} effects of the scans that it does not show yet
 * @returns {Line[]}
 */
export function withEffects(lines, effects) {
  const changed = lines.map((line) => ({ ...line }));
  for (const effect of effects) {
    if (effect.item_code === '') {
      for (const line of changed.filter(({ position }) => position === effect.position)) {
        line.done = line.qty;
      }
      continue;
    }
    let rest = effect.qty;
    const matching = changed.filter((line) => isFor(line, effect));
    for (const line of rest < 0 ? matching.reverse() : matching) {
      const most = rest < 0 ? -line.done : line.qty - line.done;
      const share = rest < 0 ? Math.max(rest, most) : Math.min(rest, most);
      line.done = exact(line.done + share);
      rest = exact(rest - share);
    }
    const last = matching.at(-1);
    if (last && rest > 0) {
      last.done = exact(last.done + rest); // more than was open
    }
  }
  return changed;
}

/**
 * @param {Line} line
 * @param {Omit<Effect, 'qty'>} moved
 */
function isFor(line, { item_code, position, batch, serial, target }) {
  return (
    line.item_code === item_code &&
    (line.position === null || position === null || line.position === position) &&
    (line.batch === null || batch === null || line.batch === batch) &&
    (line.serials.length === 0 || serial === null || line.serials.includes(serial)) &&
    (!line.target || !target || line.target === target)
  );
}

/**
 * Return the open lines that an entry can still be for, in the order of work.
 *
 * @param {readonly Line[]} lines in the order of work
 * @param {Entry} entry
 * @returns {Line[]}
 */
export function candidates(lines, { position, product, batch, serial, target, instead = [] }) {
  return lines.filter((line) => {
    const named = {
      item_code: product?.item_code ?? line.item_code,
      position: instead.includes('position') ? null : (position ?? null),
      batch: instead.includes('batch') ? null : (batch ?? null),
      serial: serial ?? null,
      target: target ?? null,
    };
    return line.done < line.qty && isFor(line, named);
  });
}

/**
 * @param {readonly Line[]} lines
 * @param {Entry} entry
 * @returns {number} what is open of what an entry is for, and goes to the same place
 */
export function openQty(lines, entry) {
  const [first, ...others] = candidates(lines, entry);
  const together = first ? [first, ...others.filter(({ target }) => target === first.target)] : [];
  return exact(together.reduce((sum, line) => sum + line.qty - line.done, 0));
}

/**
 * @param {readonly Line[]} lines
 * @param {Entry} entry
 * @returns {string} the date that was announced of these goods; empty if none was
 */
export function announcedDate(lines, entry) {
  const announced = candidates(lines, entry).flatMap(({ expiry }) => expiry ?? []);
  return announced.find(({ batch }) => batch === null || batch === entry.batch)?.date ?? '';
}

/**
 * Return what is asked next; null if the entry has everything.
 *
 * @param {Kind} kind
 * @param {Entry} entry
 * @returns {Ask | null}
 */
export function nextAsk(kind, entry) {
  return kind.asks.find((ask) => isAsked(kind, entry, ask) && entry[ask] === undefined) ?? null;
}

/**
 * @param {Kind} kind
 * @param {Entry} entry
 * @param {Ask} ask
 */
function isAsked(kind, { product }, ask) {
  switch (ask) {
    case 'batch':
      return product?.hasBatches ?? false;
    case 'expires':
      return Boolean(kind.hasExpiry && product?.hasBatches);
    case 'serial':
      return product?.hasSerials ?? false;
    default:
      return true;
  }
}

/** What a label of GS1 has beside the product. */
const PARTS = ['batch', 'expires', 'serial'];

/** Most characters of a code, a barcode, a batch or a serial number. */
const LONGEST = 64;

/**
 * Take a scan.
 *
 * @param {Kind} kind
 * @param {Goods} goods
 * @param {readonly Line[]} lines in the order of work
 * @param {Entry} entry
 * @param {Read} read
 * @param {Replaced} [replaced] what the scan gives instead of what the lines name
 * @returns {Taken}
 */
export function takeScan(kind, goods, lines, entry, read, replaced) {
  if (read.problem !== undefined) {
    return refused(`scan_${read.problem}`, { at: read.at ?? '' });
  }
  if ((read.text?.length ?? 0) > LONGEST) {
    return refused('unknown_code', { code: read.text?.slice(0, 60) ?? '' });
  }
  const ask = nextAsk(kind, entry);
  const named = namedProduct(goods, read);
  if (named && entry.product?.item_code === named.product.item_code) {
    const more = repeated(ask, entry, named.units, read);
    return kind.isBound && 'entry' in more ? checked(lines, entry, more.entry) : more;
  }
  const given = named ? ofProduct(named, read) : ofText(withPlaces(goods, lines), lines, ask, read);
  if (given === null) {
    return { unknown: read };
  }
  if (given.position !== undefined && !kind.asks.includes('position')) {
    return refused(`scan_needs_${ask}`);
  }
  // The scan of another position begins again there.
  const begun = given.position !== undefined && ask !== 'position' ? {} : entry;
  if (given.product && !['product', null].includes(nextAsk(kind, begun))) {
    return refused(`scan_needs_${nextAsk(kind, begun)}`);
  }
  const next = { ...begun, ...given, ...(replaced && { instead: [...(begun.instead ?? []), replaced] }) };
  return kind.isBound ? checked(lines, begun, next) : { entry: next };
}

/**
 * Take another scan of the product that is asked about: one more of it.
 *
 * @param {Ask | null} ask
 * @param {Entry} entry
 * @param {number} units
 * @param {Read} read
 * @returns {Taken}
 */
function repeated(ask, entry, units, read) {
  if (read.batch !== undefined && entry.batch !== undefined && read.batch !== entry.batch) {
    return refused('scan_other_batch', { expected: entry.batch, scanned: read.batch });
  }
  if (ask !== 'qty') {
    const parts = entry.product ? partsOf(entry.product, read) : {};
    const isAnswer = ask !== null && ask in parts;
    const key = read.isCut && ask !== null && PARTS.includes(ask) ? 'scan_cut' : `scan_needs_${ask}`;
    return isAnswer ? { entry: { ...entry, ...parts } } : refused(key);
  }
  return { entry: { ...entry, scanned: exact((entry.scanned ?? 0) + units), isCounted: true } };
}

/**
 * @param {{product: Product, units: number}} named
 * @param {Read} read
 * @returns {Entry}
 */
function ofProduct({ product, units }, read) {
  const isCounted = units !== 1 || read.units !== undefined;
  return { product, scanned: units, isCounted, ...partsOf(product, read) };
}

/**
 * Return what a label says beside the product. Labels also have batches, dates and serial numbers of
 * goods that the company does not manage by them.
 *
 * @param {Product} product
 * @param {Read} read
 */
function partsOf({ hasBatches, hasSerials }, { batch, serial, expires }) {
  return {
    ...(hasBatches && batch !== undefined && { batch }),
    ...(hasSerials && serial !== undefined && { serial }),
    ...(hasBatches && expires !== undefined && { expires }),
  };
}

/**
 * @param {Goods} goods
 * @param {readonly Line[]} lines whose positions are known, too
 * @returns {Goods}
 */
function withPlaces({ products, positions }, lines) {
  const places = lines.flatMap(({ position, target }) => [position, target]).filter((one) => one != null);
  return { products, positions: { ...Object.fromEntries(places.map((one) => [one, null])), ...positions } };
}

/**
 * @param {Goods} goods
 * @param {readonly Line[]} lines
 * @param {Ask | null} ask
 * @param {Read} read of no known product
 * @returns {Entry | null}
 */
function ofText(goods, lines, ask, read) {
  const position = namedPosition(goods, read);
  // The label of a position is no batch and no serial number, unless a line names it.
  const isName =
    position === null ||
    lines.some(({ batch, serials, proposed = [] }) => [batch, ...serials, ...proposed].includes(position));
  const text = isName || ask === 'unit' ? read.text : undefined;
  if (ask === 'unit' && (read.sscc ?? text) !== undefined) {
    return { unit: read.sscc ?? text };
  }
  if (ask === 'batch' && (read.batch ?? text) !== undefined) {
    return { batch: read.batch ?? text };
  }
  if (ask === 'serial' && (read.serial ?? text) !== undefined) {
    return { serial: read.serial ?? text };
  }
  if (position === null) {
    return null;
  }
  return ask === 'target' ? { target: position } : { position };
}

const CHECKED = /** @type {const} */ (['position', 'product', 'batch', 'serial', 'target']);

/**
 * Check what a scan gave against the lines; name what is wrong about it.
 *
 * @param {readonly Line[]} lines
 * @param {Entry} before
 * @param {Entry} entry
 * @returns {Taken}
 */
function checked(lines, before, entry) {
  if (candidates(lines, {}).length === 0) {
    return refused('all_done');
  }
  let known = { ...before, ...(entry.instead && { instead: entry.instead }) };
  for (const part of CHECKED) {
    const [expected] = candidates(lines, known);
    known = { ...known, ...(entry[part] !== undefined && { [part]: entry[part] }) };
    const isTooMuch = part === 'target' && expected?.target && (entry.qty ?? 0) > openQty(lines, known);
    if (candidates(lines, known).length === 0 || isTooMuch) {
      return refused(`scan_wrong_${part}`, {
        scanned: textOf(entry[part] ?? ''),
        expected: expected ? expectedOf(expected, part) : '',
      });
    }
  }
  return { entry };
}

/** @param {string | Product} value */
const textOf = (value) => (typeof value === 'string' ? value : value.item_code);

/**
 * @param {Line} line
 * @param {typeof CHECKED[number]} part
 */
function expectedOf({ position, item_code, batch, serials, target }, part) {
  return { position, product: item_code, batch, serial: serials.join(', '), target }[part] ?? '';
}

/**
 * @param {string} key
 * @param {Record<string, string | number>} [values]
 * @returns {{problem: Problem}}
 */
const refused = (key, values = {}) => ({ problem: { key, values } });

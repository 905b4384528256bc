/**
 * Enter in a form. A scanner sends it behind each scan, so a form of goods goes on to the next field
 * with it, and only Ctrl+Enter or the button sends it.
 */

/** Fields of goods and of where they are, which are scanned. */
const SCANNED = /^(item_code|gtin|bin_code|batch|serials?)$/;

/** Inputs of fields: those in a menu choose columns. */
const INPUTS = ':is(input, select, textarea):not(details *)';

/**
 * @param {readonly import('../core/subject.js').Field[]} fields
 * @returns {boolean} whether a form has lines, or fields into which people scan
 */
export function isOfGoods(fields) {
  const isOf = (/** @type {import('../core/subject.js').Field} */ { name, type, items }) =>
    SCANNED.test(name) || (type === 'array' && items?.type === 'object');
  return fields.some(isOf) && !fields.some(({ name }) => name === 'barcode');
}

/**
 * @param {KeyboardEvent} event
 * @param {boolean} isGoing whether Enter goes on to the next field
 */
export function onEnter(event, isGoing) {
  const { key, ctrlKey, metaKey, target, defaultPrevented, isComposing } = event;
  const isInput = target instanceof HTMLInputElement || target instanceof HTMLSelectElement;
  if (key !== 'Enter' || isComposing || defaultPrevented) {
    return;
  }
  if (ctrlKey || metaKey) {
    event.preventDefault();
    const form = /** @type {Element} */ (target).closest('form');
    /** @type {HTMLElement | null | undefined} */ (form?.querySelector('footer > .main'))?.click();
  } else if (isGoing && isInput) {
    event.preventDefault();
    goOn(target, new Set());
  }
}

/**
 * Go to the next field of the form.
 *
 * @param {HTMLElement} from
 * @param {ReadonlySet<string>} filled names of inputs that are passed
 */
export function goOn(from, filled) {
  const inputs = [...(from.closest('form')?.querySelectorAll(INPUTS) ?? [])];
  const next = inputs
    .slice(inputs.indexOf(from) + 1)
    .find((one) => !filled.has(/** @type {HTMLInputElement} */ (one).name));
  /** @type {HTMLElement | undefined} */ (next)?.focus();
}

/**
 * The search of a list that has products but no search of its own, such as that of the stock: a
 * product is chosen by code, name, barcode or GTIN.
 */

import { calls, say } from '../core/app.js';
import { sourcesOf } from '../core/sources.js';
import { text } from '../core/words.js';
import { namedProduct, readLabel } from '../floor/goods.js';
import { productsOf } from '../floor/look_up.js';
import { useEffect, useId, useRef, useState } from '../vendor/hooks.js';
import { h } from '../vendor/preact.js';
import { entered } from './fields.js';
import { errorText } from './notice.js';
import { rowsOf, Suggestions, useChoices } from './suggestions.js';

const SOURCES = sourcesOf('item_code');

/**
 * @param {object} props
 * @param {string} props.code of the product that is shown; empty for all
 * @param {(code: string) => void} props.onChoose
 */
export function ProductSearch({ code, onChoose }) {
  const id = useId();
  const [written, setWritten] = useState(code);
  const [isUsed, setUsed] = useState(false);
  const stop = useRef(new AbortController()); // of what was asked last
  const latest = useRef(onChoose);
  latest.current = onChoose;
  useEffect(() => {
    setWritten(code);
    return () => stop.current.abort();
  }, [code]);
  const { choices } = useChoices(isUsed ? SOURCES : [], written);
  /** @param {Event} event */
  const choose = async (event) => {
    event.preventDefault();
    stop.current.abort();
    stop.current = new AbortController();
    const found = await productNamed(written, stop.current.signal);
    if (typeof found === 'string') {
      setWritten(found);
      latest.current(found);
    } else if (found !== null) {
      say(found.problem);
    }
  };
  return h('form', { role: 'search', onSubmit: choose }, [
    h('input', {
      type: 'search',
      list: `${id}-list`,
      value: written,
      autocomplete: 'off',
      'aria-label': text('search_product'),
      placeholder: text('search_product'),
      maxLength: 255,
      onFocus: () => setUsed(true),
      onInput: (/** @type {InputEvent} */ { target, inputType }) => {
        const value = target ? entered(target) : '';
        stop.current.abort();
        setWritten(value);
        // a suggestion that was clicked is no typing
        if ((inputType ?? 'insertReplacementText') === 'insertReplacementText' && choices.some(({ name }) => name === value)) {
          onChoose(value);
        }
      },
    }),
    h(Suggestions, { id: `${id}-list`, choices }),
    h('button', {}, text('search')),
  ]);
}

/**
 * Return the code of the product that a person names by its code, a barcode, a GTIN or, if it is the
 * only one, by words of it.
 *
 * @param {string} written
 * @param {AbortSignal} signal aborted when the person wants something else
 * @returns {Promise<string | {problem: string} | null>} empty if nothing is written; null if it was stopped
 */
export async function productNamed(written, signal) {
  const found = await foundBy(written, signal).catch((error) => ({ problem: errorText(error) }));
  return signal.aborted ? null : found;
}

/**
 * @param {string} written
 * @param {AbortSignal} signal
 * @returns {Promise<string | {problem: string}>}
 */
async function foundBy(written, signal) {
  if (written.trim() === '') {
    return '';
  }
  const read = readLabel(written.trim());
  if (read.problem !== undefined) {
    return { problem: text('scan_refused', { scan: written }) };
  }
  const exact = namedProduct({ products: await productsOf(calls, read), positions: {} }, read);
  if (exact !== null) {
    return exact.product.item_code;
  }
  const [source] = SOURCES;
  const isText = read.text !== undefined && source !== undefined;
  const { rows, total, error = null } = isText
    ? await rowsOf(source, written, undefined, signal)
    : { rows: [], total: 0 };
  if (error !== null) {
    throw error;
  }
  return total === 1 ? rows[0]?.item_code : { problem: `${written}: ${text(total === 0 ? 'nothing_found' : 'choose_known')}` };
}

/**
 * A dialog over the page. The browser keeps the focus inside; at the end it returns to where it was.
 */

import { useEffect, useId, useRef } from '../vendor/hooks.js';
import { text } from '../core/words.js';
import { h } from '../vendor/preact.js';

/**
 * @param {object} props
 * @param {string} props.title
 * @param {() => unknown} props.onClose also when the Escape key is pressed; false if it stays open
 * @param {boolean} [props.isFixed] stays open until what is inside closes it
 * @param {import('../vendor/preact.js').ComponentChildren} [props.children]
 */
export function Dialog({ title, onClose, isFixed = false, children }) {
  const element = useRef(/** @type {HTMLDialogElement | null} */ (null));
  const heading = useId();
  useEffect(() => {
    const before = /** @type {HTMLElement | null} */ (document.activeElement);
    element.current?.showModal();
    const { current } = element;
    const input = current?.querySelector('form :is(input, select, textarea)') ?? current?.querySelector('footer button');
    /** @type {HTMLElement | null | undefined} */ (input)?.focus();
    return () => before?.focus();
  }, []);
  return h(
    'dialog',
    {
      ref: element,
      'aria-labelledby': heading,
      onCancel: (/** @type {Event} */ event) => {
        event.preventDefault();
        if (!isFixed && event.cancelable) {
          onClose(); // otherwise the browser closes it in any case
        }
      },
      onClose: () => {
        // browsers let nobody keep a dialog open who presses Escape repeatedly
        if (isFixed || onClose() === false) {
          element.current?.showModal();
        }
      },
    },
    [
      h('header', {}, [
        h('h2', { id: heading }, title),
        !isFixed &&
          h(
            'button',
            { type: 'button', class: 'plain', 'aria-label': text('close'), onClick: onClose },
            '✕',
          ),
      ]),
      children,
    ],
  );
}

/**
 * The heading of a screen, which is also the title of the page.
 */

import { text } from '../core/words.js';
import { useEffect, useRef } from '../vendor/hooks.js';
import { h } from '../vendor/preact.js';

/** Whether a screen was shown before: the first one leaves the focus at the start of the page. */
let isLater = false;

/**
 * After a navigation, the heading gets the focus, so that the keyboard and screen readers go on there.
 *
 * @param {object} props
 * @param {string} props.title
 */
export function Title({ title }) {
  const heading = useRef(/** @type {HTMLHeadingElement | null} */ (null));
  useEffect(() => {
    if (isLater) {
      heading.current?.focus({ preventScroll: true });
    }
    isLater = true;
  }, []);
  useEffect(() => {
    document.title = `${title} | ${text('product')}`;
  }, [title]);
  return h('h1', { ref: heading, tabIndex: -1 }, title);
}

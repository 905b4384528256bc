/** The heading of a screen, and the title of the page. */

import { text } from '../../core/words.js';
import { useEffect } from '../../vendor/hooks.js';
import { h } from '../../vendor/preact.js';

/**
 * @param {object} props
 * @param {string} props.title
 */
export function ScreenTitle({ title }) {
  useEffect(() => {
    document.title = `${title} | ${text('product')}`;
  }, [title]);
  return h('h1', {}, title);
}

/**
 * The address of the page: `{base}/console/receipts/12?status=started`. It holds the state of a
 * screen, so that a link, a reload and the back button show the same.
 */

import { signal } from '../vendor/signals-core.js';
import { queryText } from './calls.js';

/**
 * @typedef {object} Address
 * @property {readonly string[]} path parts below the address of the console
 * @property {Readonly<Record<string, string>>} query
 */

/**
 * Return the parts of an address below that of the console.
 *
 * @param {string} url
 * @param {string} base address of the console, with a slash at its end
 * @returns {Address}
 */
export function parse(url, base) {
  const { pathname, searchParams } = new URL(url);
  const below = pathname.slice(new URL(base).pathname.length);
  return {
    path: below.split('/').filter(Boolean).map(decoded),
    query: Object.fromEntries(searchParams),
  };
}

/**
 * Return the address of a screen, relative to that of the console.
 *
 * @param {readonly (string | number)[]} path
 * @param {Record<string, string | number | null | undefined>} [query] empty values are left out
 */
export function href(path, query = {}) {
  // `.` keeps an empty path from naming the present document
  return (path.map((part) => encodeURIComponent(part)).join('/') || '.') + queryText(query);
}

/** The state of an entry of the history that follows another screen of the console. */
const AFTER_ANOTHER = { isAfterAnother: true };

/** The present address; changes with every navigation. */
export const address = signal(/** @type {Address} */ ({ path: [], query: {} }));

/** Returns whether a person may leave the screen. */
let mayLeave = () => true;

/**
 * Ask before a link, or a button of the browser, shows another screen.
 *
 * @param {() => boolean} ask
 */
export function askBeforeLeaving(ask) {
  mayLeave = ask;
}

/**
 * Follow the address bar and every link of the page.
 *
 * @param {string} base address of the console, with a slash at its end
 */
export function followAddress(base) {
  let shown = '';
  const update = () => {
    shown = location.href;
    address.value = parse(shown, base);
  };
  addEventListener('popstate', ({ isTrusted }) => {
    if (isTrusted && !mayLeave()) {
      history.pushState(AFTER_ANOTHER, '', shown); // the browser has left it already
    } else {
      update();
    }
  });
  document.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    const isOurs = link !== null && link.href.startsWith(base) && !link.download && !link.target;
    if (isOurs && isPlainClick(event)) {
      event.preventDefault();
      if (mayLeave()) {
        history.pushState(AFTER_ANOTHER, '', link.href);
        update();
        scrollTo(0, 0);
      }
    }
  });
  update();
}

/**
 * Go to a screen.
 *
 * @param {string} to as `href` returns it
 * @param {{replace?: boolean}} [options] `replace`: the back button does not return to this screen
 */
export function go(to, { replace = false } = {}) {
  const url = new URL(to, document.baseURI);
  if (replace) {
    history.replaceState(history.state, '', url);
  } else {
    history.pushState(AFTER_ANOTHER, '', url);
  }
  dispatchEvent(new PopStateEvent('popstate'));
}

/**
 * Go back to the screen before.
 *
 * @param {string} otherwise where to go if the tab began with this screen, as `href` returns it
 */
export function goBack(otherwise) {
  if (history.state?.isAfterAnother) {
    history.back();
  } else {
    go(otherwise, { replace: true });
  }
}

/** @param {MouseEvent} event */
function isPlainClick(event) {
  const isModified = event.metaKey || event.ctrlKey || event.shiftKey || event.altKey;
  return event.button === 0 && !isModified && !event.defaultPrevented;
}

/** @param {string} part */
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

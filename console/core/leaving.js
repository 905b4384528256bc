/**
 * The question before a form is left whose content is not saved.
 */

import { useLayoutEffect } from '../vendor/hooks.js';
import { askBeforeLeaving } from './address.js';
import { session } from './app.js';
import { text } from './words.js';

/** The forms with content that is not saved, and who wrote it. */
const unsaved = new Map();

/** @returns {boolean} whether no form has content, or the person leaves it */
export function mayLeave() {
  if (unsaved.size > 0 && !confirm(text('not_saved'))) {
    return false;
  }
  unsaved.clear(); // one question is enough
  return true;
}

/**
 * Ask before the form that calls this is left, as long as it has content.
 *
 * @param {boolean} hasContent
 */
export function useQuestion(hasContent) {
  useLayoutEffect(() => {
    const form = {};
    if (hasContent) {
      unsaved.set(form, session.owner);
    }
    return () => unsaved.delete(form);
  }, [hasContent]);
}

askBeforeLeaving(mayLeave);
addEventListener('beforeunload', (event) => {
  // whoever signs in as somebody else, or out, cannot stay
  if ([...unsaved.values()].includes(session.owner)) {
    event.preventDefault();
  }
});

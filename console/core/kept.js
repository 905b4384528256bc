/** What a person leaves in the tab, such as drafts. */

export const PREFIX = 'stowage.draft ';

/**
 * Forget all drafts, as at a sign-out, or those of some forms.
 *
 * @param {Storage} storage
 * @param {string} [begins] owner, and how the name of the form begins
 */
export function forgetDrafts(storage, begins = '') {
  Object.keys(storage)
    .filter((key) => key.startsWith(PREFIX + begins))
    .forEach((key) => storage.removeItem(key));
}

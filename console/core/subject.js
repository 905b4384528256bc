/**
 * What a screen knows of a subject of the interface, such as receipts. Lists, details and forms
 * are made from it; `console/subjects.js` has one description for each.
 */

/**
 * @typedef {import('./description.js').Field} Field
 * @typedef {import('./description.js').List} List
 * @typedef {import('./description.js').Write} Write
 * @typedef {import('./description.js').Interface} Interface
 * @typedef {import('./description.js').Sheet} Sheet
 * @typedef {import('./description.js').Subject} Subject
 */

/**
 * Return the path of the list of a subject, such as `/webhooks/{id}/deliveries`.
 *
 * @param {Subject} subject
 */
export function listPath({ name, parent }) {
  return parent === undefined ? `/${name}` : `/${parent}/{id}/${name}`;
}

/**
 * Return the path of one resource of a subject.
 *
 * @param {Subject} subject
 */
export function itemPath(subject) {
  return `${listPath(subject)}/{${subject.item ?? 'id'}}`;
}

const NOT_IN_FEED = new Set(['audit-log', 'request-log']);

/**
 * Return what exports and the feed of changes call a resource of a subject: the last name in the path
 * of its list, in the singular. Undefined for what they do not have.
 *
 * @param {Subject} subject
 */
export function objectOf({ name, parent, from }) {
  if ((parent ?? from) !== undefined || NOT_IN_FEED.has(name)) {
    return undefined;
  }
  return name.replaceAll('-', '_').replace(/ies$/, 'y').replace(/s$/, '');
}

/**
 * Return the address of the list of a resource.
 *
 * @param {Subject} subject
 * @param {Record<string, string>} parameters
 */
export function listAddress({ name, parent, from = name }, parameters) {
  return parent === undefined ? [from] : [parent, parameters.id ?? '', name];
}

/**
 * Return whether the permissions of a user allow a write.
 *
 * @param {Write | undefined} write
 * @param {ReadonlySet<string>} permissions
 */
export function mayCarryOut(write, permissions) {
  if (write === undefined || write.permission === null) return write !== undefined;
  return [write.permission, ...(write.otherPermissions ?? [])].some((one) => permissions.has(one));
}

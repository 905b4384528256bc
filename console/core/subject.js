/**
 * What a screen knows of a subject of the interface, such as receipts. Lists, details and forms
 * are made from it; `console/subjects.js` has one description for each.
 */

/**
 * A field of a row, a body or a query.
 *
 * @typedef {object} Field
 * @property {string} name
 * @property {'text' | 'number' | 'integer' | 'boolean' | 'date' | 'date-time' | 'choice' | 'file'
 *   | 'object' | 'array' | 'texts'} type `texts`: an object of texts by names that people choose
 * @property {boolean} [isRequired]
 * @property {boolean} [isNullable]
 * @property {readonly (string | number)[]} [choices]
 * @property {unknown} [default]
 * @property {number} [maxLength] characters
 * @property {number} [minimum]
 * @property {number} [above] the value must be greater
 * @property {number} [maximum]
 * @property {number} [maxItems]
 * @property {readonly Field[]} [fields] of an object
 * @property {Omit<Field, 'name'> & {name?: string}} [items] of an array
 */

/**
 * A list of the interface.
 *
 * @typedef {object} List
 * @property {string | null} permission a user needs it; null if every user can read the list
 * @property {readonly Field[]} fields of a row
 * @property {readonly Field[]} filters
 * @property {readonly string[]} sorts
 * @property {string | null} sort the order that a list has by itself, such as `-created_at`
 */

/**
 * A write of the interface.
 *
 * @typedef {object} Write
 * @property {string | null} permission
 * @property {readonly string[]} [otherPermissions] each is enough, too
 * @property {string} name operation id, such as `finalize_receipt`
 * @property {readonly Field[]} [body] null or missing if there is none
 */

/**
 * What the interface has below the first part of a path. Generated into `console/interface`.
 *
 * @typedef {object} Interface
 * @property {Record<string, List>} lists path → list
 * @property {Record<string, {permission: string | null, fields: readonly Field[]}>} details
 * @property {Record<string, Write>} actions method and path → write
 */

/**
 * The description of a subject.
 *
 * @typedef {object} Subject
 * @property {string} name part of its paths
 * @property {string} [kind] of one resource, as links, movements and the audit log name it
 * @property {string} [permission] a user needs it to read the list
 * @property {'oversight' | 'inbound' | 'outbound' | 'moving' | 'stock' | 'catalog' | 'setup'} group of
 *   the menu
 * @property {readonly string[]} columns fields of the list that are shown at first
 * @property {string} title field that names a resource for people
 * @property {{subject: string, filter: string}} [about] the list is about one resource of another
 *   subject: until its filter has an id, it offers those resources
 * @property {string} [setting] that fills the list when it is on
 * @property {string} [create] operation that makes one
 * @property {() => import('./actions.js').Resource} [begins] values with which its form begins
 * @property {readonly string[]} [more] other operations that make some
 * @property {string} [change] operation that changes one, with the values of the detail
 * @property {(resource: Record<string, any>) => Record<string, unknown>} [formValues] what the
 *   change form shows of fields that the detail names or writes differently
 * @property {boolean} [sells] lines show what can be sold
 * @property {readonly import('./actions.js').Action[]} [actions]
 * @property {{subject: string, id: (resource: import('./actions.js').Resource) => number | undefined,
 *   columns: readonly string[]}} [expected] another resource, whose lines are worked on
 * @property {Record<string, string>} [links] field with an object → subject of this object
 * @property {readonly string[]} [hidden] fields of the detail that another list shows
 * @property {string} [parent] subject below whose resources it is
 * @property {string} [from] subject in whose list it is made, if it has no list of its own
 * @property {string} [item] name of its id in a path, if it is not `id`
 * @property {readonly string[]} [parts] subjects below a resource of this one
 * @property {readonly string[]} [waits] statuses that end by themselves, soon
 * @property {readonly string[]} [panels] modules in `console/screens/panels` below the detail
 * @property {readonly {path: string, label: string}[]} [files] of a resource, to print
 * @property {Record<string, {subject: string, filter: string}>} [related] lists of other subjects
 *   about this resource: filter → `id` or field of the resource
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

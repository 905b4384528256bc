/**
 * What a screen knows of a subject of the interface, such as receipts. Lists, details and forms
 * are made from it; `console/subjects.js` has one description for each.
 */

import { actionLabel } from './words.js';

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
 * An action at a resource. The field `actions` of a resource with states has the names of those that
 * its state allows.
 *
 * @typedef {object} Action
 * @property {string} operation such as `POST /receipts/{id}/start`
 * @property {string} [name] in `actions`; the last part of the path without it. It may be the name of
 *   another action that is possible in the same states; empty if only `when` decides
 * @property {Record<string, readonly unknown[]>} [when] field → the values with which it is offered;
 *   `document.type` is a field of a field
 * @property {Record<string, readonly unknown[]>} [unless] field → the values with which it is not
 * @property {readonly string[]} [asks] fields of the body that its form has; all without it
 * @property {Record<string, unknown>} [sends] what it always sends
 * @property {string} [label] name of its words, if it is not the operation id
 * @property {boolean} [isForOthers] users do it to other users only
 * @property {string} [field] of an action at another subject: the field that gets the id
 * @property {boolean | ((resource: Resource) => boolean)} [atOnce] whether it is carried out without
 *   a dialog: it loses nothing, or can be undone
 * @property {(resource: Resource) => boolean} [isAside] whether there is no need of it
 * @property {readonly string[]} [then] operations that follow at what it has made
 * @property {(resource: Resource) => Resource} [values] with which its form begins
 * @property {(line: Resource) => Resource | false} [line] the values with which it begins at a line;
 *   false if it is not offered there
 * @property {string} [lineLabel] name of its words at a line
 * @property {string} [at] the field with these lines, or `expected`; `lines` without it
 * @property {boolean} [isForAll] about all of these lines: it is offered while one is left
 * @property {boolean} [each] carried out for each of these lines, one after the other
 * @property {boolean} [asksAbove] asks before it takes more than these lines have left
 * @property {(resource: Resource) => readonly Loss[]} [loses] what it gives up
 * @property {string} [leads] subject of what it makes, which is shown then
 * @property {boolean} [endsWork] ends or removes something: a dialog asks to confirm it
 */

/**
 * A resource or a line of it, as the interface shows it.
 *
 * @typedef {Record<string, any>} Resource
 *
 * @typedef {{item_code: string, qty: number}} Loss goods of a line
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
 * @property {string} [create] operation that makes one
 * @property {() => Resource} [begins] values with which its form begins
 * @property {readonly string[]} [more] other operations that make some
 * @property {string} [change] operation that changes one, with the values of the detail
 * @property {(resource: Record<string, any>) => Record<string, unknown>} [formValues] what the
 *   change form shows of fields that the detail names or writes differently
 * @property {boolean} [sells] lines show what can be sold
 * @property {readonly Action[]} [actions]
 * @property {{subject: string, id: (resource: Resource) => number | undefined,
 *   columns: readonly string[]}} [expected] another resource, whose lines are worked on
 * @property {Record<string, string>} [links] field with an object → subject of this object
 * @property {readonly string[]} [hidden] fields of the detail that another list shows
 * @property {string} [parent] subject below whose resources it is
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

/**
 * Return the actions that the state of a resource allows to a user, in the order of its `actions`.
 *
 * @param {Subject} subject
 * @param {Interface} description
 * @param {Record<string, unknown>} resource
 * @param {ReadonlySet<string>} permissions
 * @param {string} [userId] id of this user
 * @returns {Action[]}
 */
export function allowedActions(subject, description, resource, permissions, userId) {
  /** @param {[string, readonly unknown[]]} condition */
  const holds = ([name, values]) => values.includes(valueAt(resource, name));
  const possible = (subject.actions ?? []).filter((action) => {
    const { operation, when = {}, unless = {}, isForOthers } = action;
    const isPossible = Object.entries(when).every(holds) && !Object.entries(unless).some(holds);
    const isOwn = isForOthers && String(resource.id) === userId;
    return isPossible && !isOwn && mayCarryOut(description.actions[operation], permissions);
  });
  const names = /** @type {readonly string[] | undefined} */ (resource.actions);
  if (names === undefined) {
    return possible;
  }
  const place = (/** @type {Action} */ action) => names.indexOf(actionName(action));
  return possible
    .filter((one) => one.name === '' || place(one) >= 0)
    .sort((one, other) => place(one) - place(other));
}

/**
 * Return the name that an action has in the field `actions` of a resource.
 *
 * @param {Action} action
 */
export function actionName({ operation, name = operation.split('/').at(-1) ?? '' }) {
  return name;
}

/**
 * Return the words of an action.
 *
 * @param {Action} action
 * @param {Interface} description
 */
export function labelOf({ operation, label }, { actions }) {
  return actionLabel(label ?? actions[operation]?.name ?? operation);
}

/**
 * Return the lines of a table at which an action is offered, each with the values of its form.
 *
 * @param {Action} action
 * @param {readonly Resource[]} lines
 */
export function startsAt({ line: valuesAt }, lines) {
  return lines.flatMap((line) => {
    const values = valuesAt?.(line);
    return values ? [{ line, values }] : [];
  });
}

/**
 * @param {Action} action
 * @param {Resource} resource
 */
export function isAtOnce({ atOnce = false }, resource) {
  return typeof atOnce === 'function' ? atOnce(resource) : atOnce;
}

/**
 * Return the action that the state of a resource is for: the one about all lines that are left, else
 * one that needs no form, else the first one; never one that ends something.
 *
 * @param {readonly Action[]} actions
 * @param {Resource} resource
 */
export function mainAction(actions, resource) {
  const forward = actions.filter(({ endsWork }) => !endsWork);
  const isNext = (/** @type {Action} */ action) => isAtOnce(action, resource) && !action.isAside?.(resource);
  return forward.find(({ isForAll }) => isForAll) ?? forward.find(isNext) ?? forward[0];
}

/**
 * Return how much more of a product is sent than its lines have left; 0 if it is not among them.
 *
 * @param {Action} action
 * @param {readonly Resource[]} lines
 * @param {Resource} body
 * @returns {number}
 */
export function excessOf(action, lines, { item_code: code, qty }) {
  const left = startsAt(action, lines).map(({ values }) => values);
  const known = lines.some((line) => line.item_code === code);
  const open = left.filter((one) => one.item_code === code).reduce((sum, one) => sum + one.qty, 0);
  return known && typeof qty === 'number' ? Math.max(0, qty - open) : 0;
}

/**
 * Return the words of an action at a line: short, as they stand at each of them.
 *
 * @param {Action} action
 * @param {Interface} description
 */
export function lineLabel({ operation, lineLabel: label }, { actions }) {
  return actionLabel(label ?? actions[operation]?.name ?? operation);
}

/**
 * Return the address of the list of a resource.
 *
 * @param {Subject} subject
 * @param {Record<string, string>} parameters
 */
export function listAddress({ name, parent }, parameters) {
  return parent === undefined ? [name] : [parent, parameters.id ?? '', name];
}

/**
 * @param {Resource} resource
 * @param {string} name of a field, or of a field of a field
 */
function valueAt(resource, name) {
  return name.split('.').reduce((value, part) => value?.[part], resource);
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

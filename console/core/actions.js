/**
 * The actions at a resource: which ones its state allows, and with what they begin.
 */

import { mayCarryOut } from './subject.js';
import { actionLabel } from './words.js';

/**
 * @typedef {import('./subject.js').Subject} Subject
 * @typedef {import('./subject.js').Interface} Interface
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
 * @param {Resource} resource
 * @param {string} name of a field, or of a field of a field
 */
function valueAt(resource, name) {
  return name.split('.').reduce((value, part) => value?.[part], resource);
}

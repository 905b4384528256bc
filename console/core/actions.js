/**
 * The actions at a resource: which ones its state allows, and with what they begin.
 */

import { exact } from './exact.js';
import { itemPath, mayCarryOut } from './subject.js';
import { actionLabel } from './words.js';

/**
 * @typedef {import('./description.js').Subject} Subject
 * @typedef {import('./description.js').Interface} Interface
 * @typedef {import('./description.js').Action} Action
 * @typedef {import('./description.js').Resource} Resource
 * @typedef {import('./description.js').Loss} Loss
 * @typedef {import('./description.js').Made} Made
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
 * one that needs no form, else the first one that there is a need of; never one that ends something.
 *
 * @param {readonly Action[]} actions
 * @param {Resource} resource
 * @param {Made} [made] of it
 */
export function mainAction(actions, resource, made = {}) {
  const forward = actions.filter(({ endsWork }) => !endsWork);
  const needed = forward.filter((action) => !action.isAside?.(resource, made));
  const next = needed.find((action) => isAtOnce(action, resource)) ?? needed[0] ?? forward[0];
  return forward.find(({ isForAll }) => isForAll) ?? next;
}

/**
 * Return the actions that are carried out for several resources one after the other: those that need
 * no form in any state.
 *
 * @param {Subject} subject
 * @param {Interface} description
 * @param {ReadonlySet<string>} permissions
 */
export function actionsForMany(subject, { actions }, permissions) {
  const isOfItem = (/** @type {Action} */ { operation }) => operation.startsWith(`POST ${itemPath(subject)}/`);
  return (subject.actions ?? []).filter(
    (action) =>
      action.atOnce === true &&
      isOfItem(action) &&
      action.line === undefined &&
      action.leads === undefined &&
      mayCarryOut(actions[action.operation], permissions),
  );
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
  return known && typeof qty === 'number' ? Math.max(0, exact(qty - open)) : 0;
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

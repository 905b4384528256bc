/**
 * Maps of warehouses before they are published: from a file, or made from the positions.
 */

import { sorted } from './plan.js';

/** @typedef {import('./plan.js').Place} Place */

/** The parts of a map that are lists. */
const PARTS = /** @type {const} */ (['zones', 'aisles', 'bays', 'points']);

/** What each part needs to be drawn: names of numbers. */
const DRAWN = { zones: [], aisles: [], bays: ['x', 'y', 'w', 'd'], points: ['x', 'y'] };

/**
 * Return what can be drawn of a map that a person wrote; null if nothing can. The service decides
 * whether the map is right.
 *
 * The bays keep their indexes: one that cannot be drawn has no size.
 *
 * @param {unknown} draft
 * @returns {{width_m: number, depth_m: number, zones: any[], aisles: any[], bays: any[],
 *   points: any[]} | null}
 */
export function drawable(draft) {
  const map = recordOf(draft);
  if (!(isNumber(map.width_m) && map.width_m > 0 && isNumber(map.depth_m) && map.depth_m > 0)) {
    return null;
  }
  const parts = PARTS.map((name) => {
    const all = Array.isArray(map[name]) ? map[name].map(recordOf) : [];
    return [name, all.map((part) => ({ ...part, ...numbersOf(part, DRAWN[name]) }))];
  });
  const found = Object.fromEntries(parts);
  return {
    ...found,
    width_m: map.width_m,
    depth_m: map.depth_m,
    zones: found.zones.filter((/** @type {any} */ zone) => isPolygon(zone.polygon)),
    bays: found.bays.map((/** @type {any} */ bay) => ({
      ...bay,
      rotation: isNumber(bay.rotation) ? bay.rotation : 0,
    })),
  };
}

/**
 * @param {Record<string, unknown>} part
 * @param {readonly string[]} names
 */
function numbersOf(part, names) {
  return Object.fromEntries(names.map((name) => [name, isNumber(part[name]) ? part[name] : 0]));
}

/**
 * @param {unknown} value
 * @returns {Record<string, unknown>}
 */
function recordOf(value) {
  return typeof value === 'object' && value !== null ? /** @type {any} */ (value) : {};
}

/**
 * @param {unknown} value
 * @returns {value is number}
 */
function isNumber(value) {
  return typeof value === 'number';
}

/** @param {unknown} value */
function isPolygon(value) {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((corner) => Array.isArray(corner) && corner.every(isNumber))
  );
}

/** Metres of a bay, and between two aisles, in a map made from positions. */
const BAY = { w: 3, d: 1 };
const BETWEEN_AISLES = 4;

/**
 * Return a map to begin with: an aisle for each one of the positions, with a bay for each rack.
 *
 * @param {readonly Place[]} places
 * @returns {Record<string, any>}
 */
export function draftFrom(places) {
  const placed = places.filter(({ aisle, rack }) => aisle !== null && rack !== null);
  const numbers = sorted(placed.map(({ aisle }) => aisle ?? ''));
  const rows = numbers.map((aisle) =>
    sorted(placed.filter((place) => place.aisle === aisle).map(({ rack }) => rack ?? '')),
  );
  const width = 2 + BAY.w * Math.max(3, ...rows.map((racks) => racks.length));
  return {
    width_m: width,
    depth_m: BETWEEN_AISLES * Math.max(2, numbers.length),
    zones: [],
    aisles: numbers.map((number, at) => {
      const y = BETWEEN_AISLES * at + 1;
      return { number, x1: 0, y1: y, x2: width, y2: y };
    }),
    bays: rows.flatMap((racks, at) =>
      racks.map((number, column) => ({
        ...{ number, aisle: numbers[at], ...BAY, levels: [] },
        ...{ x: 1 + BAY.w * column, y: BETWEEN_AISLES * at + 2 },
      })),
    ),
    points: [],
  };
}

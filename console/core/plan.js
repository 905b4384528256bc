/**
 * Where the positions of a warehouse are on its map.
 *
 * The map has bays, seen from above; a position names aisle, rack, level and slot. It lies in the
 * bay with this aisle and number. There, slots stand side by side and levels one above the other.
 */

/**
 * @typedef {object} Bay
 * @property {string | number} number
 * @property {string | number | null} aisle
 * @property {number} x
 * @property {number} y
 * @property {number} w
 * @property {number} d
 * @property {number} rotation
 *
 * @typedef {object} Place
 * @property {number} id
 * @property {string} bin_code
 * @property {string | null} aisle
 * @property {string | null} rack
 * @property {string | null} level
 * @property {string | null} slot
 * @property {number | null} capacity_units
 *
 * @typedef {object} Cell a position on the map, in the coordinates of its bay before the rotation
 * @property {Place} place
 * @property {number} x
 * @property {number} y
 * @property {number} w
 * @property {number} d
 */

/**
 * Return the cells of each bay that has positions.
 *
 * @param {readonly Bay[]} bays
 * @param {readonly Place[]} places
 * @returns {Map<Bay, Cell[]>}
 */
export function cellsOf(bays, places) {
  /** @type {Map<string, Place[]>} */
  const byBay = new Map();
  for (const place of places) {
    const key = bayKey(place.aisle, place.rack);
    byBay.set(key, [...(byBay.get(key) ?? []), place]);
  }
  /** @type {Map<Bay, Cell[]>} */
  const found = new Map();
  for (const bay of bays) {
    const inside = byBay.get(bayKey(bay.aisle, bay.number)) ?? [];
    if (inside.length > 0) {
      found.set(bay, divided(bay, inside));
    }
  }
  return found;
}

/**
 * @param {Bay} bay
 * @param {readonly Place[]} places
 * @returns {Cell[]}
 */
function divided(bay, places) {
  const slots = sorted(places.map(({ slot }) => slot ?? ''));
  const levels = sorted(places.map(({ level }) => level ?? ''));
  const isWide = bay.w >= bay.d;
  const [across, along] = isWide ? [slots, levels] : [levels, slots];
  const [w, d] = [bay.w / across.length, bay.d / along.length];
  return places.map((place) => {
    const [slot, level] = [place.slot ?? '', place.level ?? ''];
    const column = across.indexOf(isWide ? slot : level);
    const row = along.indexOf(isWide ? level : slot);
    return { place, x: bay.x + column * w, y: bay.y + row * d, w, d };
  });
}

/** @param {readonly string[]} labels */
function sorted(labels) {
  return [...new Set(labels)].sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
}

/**
 * Numbers with leading zeros are equal to those without: labels of racks often have them.
 *
 * @param {string | number | null} aisle
 * @param {string | number | null} number
 */
function bayKey(aisle, number) {
  return JSON.stringify([aisle, number].map((label) => String(label ?? '').replace(/^0+(?=.)/, '')));
}

/**
 * Return how full a position is, from 0 to 1; null if its capacity is not known.
 *
 * @param {number} quantity
 * @param {number | null} capacity
 */
export function fillOf(quantity, capacity) {
  return capacity === null || capacity <= 0 ? null : Math.min(quantity / capacity, 1);
}

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

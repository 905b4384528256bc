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
export function sorted(labels) {
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

/**
 * Return how the codes of all positions between two of them begin, without digits at the end: those
 * of begin with `A-`.
 *
 * @param {string} first
 * @param {string} last
 */
export function sharedStart(first, last) {
  const letters = [...first];
  const end = letters.findIndex((letter, at) => letter !== last[at]);
  return letters.slice(0, end === -1 ? letters.length : end).join('').replace(/\d+$/, '');
}

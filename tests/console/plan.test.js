import assert from 'node:assert/strict';
import { test } from 'node:test';

import { draftFrom, drawable } from '../../console/core/map_draft.js';
import { cellsOf, fillOf, sharedStart } from '../../console/core/plan.js';

/** @param {object} values */
const place = (values) => ({
  ...{ id: 1, bin_code: 'x', aisle: 'A', rack: '01', level: null, slot: null, capacity_units: null },
  ...values,
});
const bay = { number: 1, aisle: 'A', x: 2, y: 4, w: 6, d: 2, rotation: 0 };

test('slots stand side by side along the longer side, levels one above the other', () => {
  const places = [
    place({ id: 1, slot: '10', level: '2' }),
    place({ id: 2, slot: '2', level: '1' }),
    place({ id: 3, slot: '1', level: '1' }),
  ];
  const cells = cellsOf([bay], places).get(bay) ?? [];
  assert.deepEqual(
    cells.map(({ place: { id }, x, y, w, d }) => [id, x, y, w, d]),
    [
      [1, 6, 5, 2, 1],
      [2, 4, 4, 2, 1],
      [3, 2, 4, 2, 1],
    ],
  );
  const upright = { ...bay, w: 2, d: 6 };
  const [first] = cellsOf([upright], places).get(upright) ?? [];
  assert.deepEqual([first?.x, first?.y, first?.w, first?.d], [3, 8, 1, 2]);
});

test('a position lies in the bay with its aisle and number, or on no bay', () => {
  const other = { ...bay, number: '02' };
  const found = cellsOf([bay, other], [place({ rack: '2' }), place({ rack: null }), place({ aisle: 'B' })]);
  assert.deepEqual([...found.keys()], [other]);
});

test('a position without a capacity has no fill', () => {
  assert.equal(fillOf(5, null), null);
  assert.equal(fillOf(5, 0), null);
  assert.equal(fillOf(5, 20), 0.25);
  assert.equal(fillOf(30, 20), 1);
});

test('what a person wrote is drawn as far as it can be', () => {
  assert.equal(drawable(null), null);
  assert.equal(drawable([{ width_m: 3 }]), null);
  const found = drawable({
    width_m: 10,
    depth_m: 6,
    zones: [{ code: 'Z', polygon: [[0, 0], 7] }, null],
    aisles: 'A',
    bays: [bay, { ...bay, x: '4', rotation: undefined }, null],
  });
  assert.deepEqual(found?.zones, []);
  assert.deepEqual(found?.aisles, []);
  assert.deepEqual(found?.bays[0], bay);
  assert.deepEqual(
    found?.bays.map(({ x, y, w, d, rotation }) => [x, y, w, d, rotation]),
    [[2, 4, 6, 2, 0], [0, 4, 6, 2, 0], [0, 0, 0, 0, 0]],
  );
});

test('a map to begin with has a bay for each rack, in which its positions lie', () => {
  const places = [
    ...['01', '02'].flatMap((rack) => [place({ rack, level: '1' }), place({ rack, level: '2' })]),
    place({ aisle: 'B', rack: '01' }),
    place({ aisle: null, rack: null }),
  ];
  const map = draftFrom(places);
  assert.deepEqual(
    map.bays.map((/** @type {any} */ { aisle, number, x, y }) => [aisle, number, x, y]),
    [['A', '01', 1, 2], ['A', '02', 4, 2], ['B', '01', 1, 6]],
  );
  assert.deepEqual([map.width_m, map.depth_m], [11, 8]);
  assert.equal([...cellsOf(map.bays, places).values()].flat().length, 5);
  assert.deepEqual(draftFrom([]).bays, []);
});

test('positions between two codes begin as both do, whatever their numbers', () => {
  const starts = [['A-1', 'A-10'], ['A-01-1', 'A-01-9'], ['A-19', 'A-2'], ['A-1', 'B-1'], ['A-1', 'A-1']];
  assert.deepEqual(starts.map(([first = '', last = '']) => sharedStart(first, last)), ['A-', 'A-01-', 'A-', '', 'A-']);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';

import './floor_page.js';
import { watch } from '../../console/floor/camera.js';

const { labelOf } = await import('../../console/floor/detector.js');

/**
 * Show codes to a camera, one in each look, and return what it reports of them.
 *
 * @param {(string | undefined | Error)[]} sights
 */
async function reported(sights) {
  /** @type {string[]} */
  const found = [];
  const end = new AbortController();
  let time = 0;
  await watch({
    look: async () => {
      const sight = sights.shift();
      if (sights.length === 0) {
        end.abort(new Error('closed'));
      }
      if (sight instanceof Error) {
        throw sight;
      }
      return sight;
    },
    report: (text) => found.push(text),
    ended: end.signal,
    wait: async (milliseconds) => {
      time += milliseconds;
    },
    now: () => time,
  });
  return found;
}

/** @param {(string | undefined)[]} sights */
const often = (...sights) => Array.from({ length: 40 }, () => sights).flat();

test('a label that stays in view is one scan, and so are two labels that are seen in turn', async () => {
  assert.deepEqual(await reported([...often('A-1'), undefined]), ['A-1']);
  assert.deepEqual(await reported([...often('A-1', undefined), undefined]), ['A-1'], 'it is not read each time');
  assert.deepEqual(await reported([...often('A-1', 'A-2'), undefined]), ['A-1', 'A-2']);
});

test('a label that comes back is another scan', async () => {
  assert.deepEqual(await reported(['A-1', ...often(undefined), 'A-1', undefined]), ['A-1', 'A-1']);
});

test('a look that fails is repeated; a camera that reads nothing any more ends', async () => {
  const failure = new DOMException('no picture yet');
  assert.deepEqual(await reported([failure, failure, 'A-1', failure, 'A-2', undefined]), ['A-1', 'A-2']);
  await assert.rejects(reported(Array.from({ length: 30 }, () => failure)), failure);
});

test('what is read while the camera is closed is no scan', async () => {
  assert.deepEqual(await reported(['A-1']), []);
});

test('a code of GS1 is what a scanner sends of it', () => {
  const gs1 = { contentType: /** @type {const} */ ('GS1'), symbologyIdentifier: ']C1', text: '0104006381333931\u001d10L1' };
  assert.equal(labelOf(gs1), ']C10104006381333931\u001d10L1');
  assert.equal(labelOf({ contentType: 'Text', symbologyIdentifier: ']C0', text: 'A-1' }), 'A-1');
});

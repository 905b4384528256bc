import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Listener } from '../../console/floor/listener.js';
import { ServiceClock } from '../../console/floor/clock.js';

/**
 * Press keys one after the other.
 *
 * @param {string | string[]} keys
 * @param {number} pause in milliseconds
 * @param {{value: string, dispatchEvent?: () => void, selectionStart?: number}} [target] the field that has the focus
 */
function pressed(keys, pause, target) {
  /** @type {string[]} */
  const reported = [];
  let prevented = 0;
  const listener = new Listener((text) => reported.push(text));
  let timeStamp = 1000;
  for (const key of keys) {
    timeStamp += pause;
    const event = {
      key: key === '\u001d' ? ']' : key, ctrlKey: key === '\u001d', altKey: false, metaKey: false,
      timeStamp, target: target ?? null,
      preventDefault: () => { prevented += 1; },
      stopPropagation: () => undefined,
    };
    listener.press(/** @type {any} */ (event));
    if (target && key.length === 1) {
      target.value += key;
    }
  }
  return { reported, prevented };
}

test('a burst that ends with Enter is a scan; typing is none', () => {
  assert.deepEqual(pressed([...'A-01', 'Enter'], 8).reported, ['A-01']);
  assert.deepEqual(pressed([...'A-01', 'Enter'], 150).reported, []);
  assert.deepEqual(pressed([...'A-01'], 8).reported, []);
  assert.deepEqual(pressed(['A', 'Enter'], 8).reported, [], 'two keys are a person');
});

test('a hiccup within a scan neither ends it nor cuts it', () => {
  /** @type {string[]} */
  const reported = [];
  const listener = new Listener((text) => reported.push(text));
  [...'4006381333931', 'Enter'].forEach((key, place) => {
    const timeStamp = 1000 + place * 8 + (place > 0 ? 200 : 0);
    const event = { key, timeStamp, target: null, preventDefault: () => 0, stopPropagation: () => 0 };
    listener.press(/** @type {any} */ (event));
  });
  assert.deepEqual(reported, ['4006381333931']);
});

test('FNC1 comes as Ctrl and ], and reaches no shortcut', () => {
  const { reported, prevented } = pressed([...'10L1', '\u001d', ...'3712', 'Enter'], 8);
  assert.deepEqual(reported, ['10L1\u001d3712']);
  assert.equal(prevented, 2);
});

test('a field that had the focus is as before the scan', () => {
  const field = { value: '1', dispatchEvent: () => undefined };
  assert.deepEqual(pressed([...'4006381333931', 'Enter'], 8, field).reported, ['4006381333931']);
  assert.equal(field.value, '1');
});

test('a space within a scan presses no button that has the focus, and is written in a field', () => {
  const button = { value: '', dispatchEvent: () => undefined };
  assert.equal(pressed([...'LOT 7', 'Enter'], 8, button).prevented, 2, 'the space and Enter');
  assert.equal(pressed([...'LOT 7', 'Enter'], 8, { ...button, selectionStart: 0 }).prevented, 1);
  assert.equal(pressed([' '], 8, button).prevented, 0, 'a person who presses the button');
});

test('Enter after characters that came slowly presses no button that has the focus', () => {
  const button = { value: '', dispatchEvent: () => undefined };
  assert.deepEqual(pressed([...'A-01', 'Enter'], 150, button), { reported: [], prevented: 1 });
  assert.equal(pressed([...'A-01', 'Enter'], 150, { ...button, selectionStart: 0 }).prevented, 0, 'a field');
  assert.equal(pressed([...'A-01', 'Enter'], 600, button).prevented, 0, 'a person, later');
  assert.equal(pressed(['Enter'], 8, button).prevented, 0, 'a person who presses the button');
});

test('modifiers are no characters, and a scan of any length is bounded', () => {
  assert.deepEqual(pressed(['Shift', 'A', 'Shift', 'B', 'C', 'Enter'], 8).reported, ['ABC']);
  assert.equal(pressed([...'x'.repeat(5000), 'Enter'], 1).reported[0]?.length, 2000);
});

test('the time of the service is right by an hour, whatever becomes of the clock of the device', async () => {
  const HOUR = 3600;
  const device = { now: 0, ticks: 0 };
  const user = { value: { issuedAt: 1_000_000 } };
  const session = /** @type {any} */ ({ token: async () => 'token', user });
  const clock = new ServiceClock(session, { now: () => device.now }, () => device.ticks);
  assert.equal(await clock.now(), 1_000_000_000);
  Object.assign(device, { now: device.now + 60_000, ticks: 60_000 });
  assert.equal(await clock.now(), 1_000_060_000);
  device.now -= 24 * HOUR * 1000; // somebody sets the clock of the device
  device.ticks += 60_000;
  assert.equal(await clock.now(), 1_000_120_000);
  user.value = { issuedAt: 1_000_000 + HOUR }; // a new token
  assert.equal(await clock.now(), (1_000_000 + HOUR) * 1000);
});

/**
 * The time zone of the company, in which times are shown and written.
 */

import { signal } from '../vendor/signals-core.js';

/** Such as `Europe/Madrid`; that of the browser before a sign-in. */
export const timeZone = signal(/** @type {string | undefined} */ (undefined));

/** @param {number} milliseconds */
function written(milliseconds) {
  const zone = timeZone.value === undefined ? {} : { timeZone: timeZone.value };
  const style = /** @type {const} */ ({ dateStyle: 'short', timeStyle: 'medium' });
  // Swedish writes dates as ISO 8601 does
  return new Intl.DateTimeFormat('sv', { ...style, ...zone }).format(milliseconds);
}

/** @returns {string} the day now, such as `2026-03-01` */
export function today() {
  return written(Date.now()).slice(0, 10);
}

/**
 * Return an instant as a person writes it, such as `2026-03-01T10:30:00`; the text itself if it is
 * none.
 *
 * @param {string} instant such as `2026-03-01T09:30:00.000Z`
 */
export function localTime(instant) {
  const milliseconds = Date.parse(instant);
  return Number.isNaN(milliseconds) ? instant : written(milliseconds).replace(' ', 'T');
}

/**
 * Return the instant of a time that a person wrote; the text itself if it is none. A time that the
 * clocks skip is one within an hour of it, a time that they repeat one of both.
 *
 * @param {string} text such as `2026-03-01T10:30:00`
 */
export function instantOf(text) {
  const wanted = Date.parse(`${text}Z`);
  if (Number.isNaN(wanted)) {
    return text;
  }
  let found = wanted;
  for (let step = 0; step < 2; step += 1) {
    // the offset there is known near enough after the first step, and exactly after the second
    found += wanted - Date.parse(`${localTime(new Date(found).toISOString())}Z`);
    if (Number.isNaN(found)) {
      return text; // in a year that no date of the interface has
    }
  }
  return new Date(found).toISOString();
}

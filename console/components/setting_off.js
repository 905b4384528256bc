/**
 * A sentence about a setting that is off, without which a list stays empty.
 */

import { calls } from '../core/app.js';
import { href } from '../core/address.js';
import { useLoaded } from '../core/use.js';
import { fieldLabel, subjectLabel, text } from '../core/words.js';
import { h } from '../vendor/preact.js';

/**
 * @param {object} props
 * @param {string} props.name of the setting
 */
export function SettingOff({ name }) {
  const { result } = useLoaded(name, async (signal) => {
    const { body } = await calls.read('GET /settings', { signal });
    return /** @type {Record<string, unknown>} */ (/** @type {unknown} */ (body.data));
  });
  if (result === null || result[name] === true) {
    return null;
  }
  return h('p', { class: 'notice', role: 'status' }, [
    `${text('setting_is_off', { setting: fieldLabel(name) })} `,
    h('a', { href: href(['settings']) }, subjectLabel('settings')),
  ]);
}

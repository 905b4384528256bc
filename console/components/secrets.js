/**
 * Secrets that an answer shows only once, such as the secret of a new API client.
 */

import { say } from '../core/app.js';
import { fieldLabel, text } from '../core/words.js';
import { h } from '../vendor/preact.js';
import { Lazy } from './lazy.js';

const NAMES = ['client_secret', 'otpauth_uri', 'secret', 'password', 'recovery_codes'];

/** The one that a phone scans. */
const SCANNED = 'otpauth_uri';

/**
 * Return the secrets of a resource.
 *
 * @param {any} data
 * @returns {Record<string, string>}
 */
export function secretsOf(data) {
  /** @type {Record<string, string>} */
  const found = {};
  for (const name of NAMES) {
    const value = data?.[name];
    if (typeof value === 'string' && value !== '') {
      found[name] = value;
    } else if (Array.isArray(value)) {
      found[name] = value.join('\n');
    }
  }
  return found;
}

/**
 * @param {object} props
 * @param {Record<string, string>} props.secrets
 * @param {() => void} props.onClose
 */
export function Secrets({ secrets, onClose }) {
  return h('div', { class: 'notice', role: 'status' }, [
    h('p', {}, text('shown_once')),
    ...Object.entries(secrets).map(([name, value]) =>
      h('div', { key: name, class: 'secret' }, [
        h('strong', {}, fieldLabel(name)),
        name === SCANNED &&
          h(Lazy, {
            load: () => import('./qr_code.js'),
            name: 'QrCode',
            props: { content: value, label: fieldLabel(name) },
          }),
        h('pre', {}, value),
        h(
          'button',
          {
            type: 'button',
            onClick: async () => {
              await navigator.clipboard.writeText(value);
              say(text('copied'));
            },
          },
          text('copy'),
        ),
      ]),
    ),
    h('button', { type: 'button', class: 'main', onClick: onClose }, text('close')),
  ]);
}

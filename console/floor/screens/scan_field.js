/** The field for scans, which also takes typed codes, and what the last scan gave. */

import { useEffect, useRef, useState } from '../../vendor/hooks.js';
import { h } from '../../vendor/preact.js';
import { Lazy } from '../../components/lazy.js';
import { scanned } from '../scanning.js';
import { say } from '../words.js';
import { Result } from './result.js';

/**
 * @param {object} props
 * @param {string} props.label what is to be scanned
 */
export function ScanField({ label }) {
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  const [isTyped, setTyped] = useState(false);
  const [isCamera, setCamera] = useState(false);
  // Some scanners only write into a field that has the focus; it shows no keyboard.
  useEffect(() => {
    const { activeElement } = document;
    if (activeElement === null || activeElement === document.body) {
      field.current?.focus({ preventScroll: true });
    }
  });
  /** @param {SubmitEvent} event */
  const submit = (event) => {
    event.preventDefault();
    const written = field.current?.value.trim() ?? '';
    if (field.current && written !== '') {
      field.current.value = '';
      scanned(written);
    }
  };
  return h('div', { class: 'scan' }, [
    h('form', { onSubmit: submit }, [
      h('label', {}, [
        h('span', { class: 'ask' }, label),
        h('input', {
          ref: field,
          inputMode: isTyped ? 'text' : 'none',
          autocomplete: 'off',
          autocapitalize: 'off',
          spellcheck: false,
          enterKeyHint: 'done',
        }),
      ]),
      h(
        'button',
        {
          type: 'button',
          'aria-pressed': isTyped,
          'aria-label': say('keyboard'),
          onClick: () => {
            setTyped(!isTyped);
            field.current?.focus();
          },
        },
        '⌨',
      ),
      h(
        'button',
        {
          type: 'button',
          'aria-pressed': isCamera,
          'aria-label': say('camera'),
          onClick: () => setCamera(!isCamera),
        },
        '▣',
      ),
    ]),
    isCamera &&
      h(Lazy, {
        load: () => import('./camera.js'),
        name: 'Camera',
        props: { onClose: () => setCamera(false) },
      }),
    h(Result, {}),
  ]);
}

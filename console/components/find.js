/**
 * The field of the header that searches all subjects. What it finds is loaded when it has the focus.
 */

import { address } from '../core/address.js';
import { text } from '../core/words.js';
import { useEffect, useLayoutEffect, useRef, useState } from '../vendor/hooks.js';
import { h } from '../vendor/preact.js';
import { Lazy } from './lazy.js';

document.head.append(
  Object.assign(document.createElement('link'), {
    rel: 'stylesheet',
    href: new URL('../found.css', import.meta.url).href,
  }),
);

/**
 * @param {object} props
 * @param {readonly import('../core/subject.js').Subject[]} props.subjects those that the person may read
 */
export function Find({ subjects }) {
  const input = useRef(/** @type {HTMLInputElement | null} */ (null));
  const [isOpen, setOpen] = useState(false);
  const [written, setWritten] = useState('');
  const [isEntered, setEntered] = useState(false);
  const close = () => setOpen(false);
  useEffect(() => {
    close();
    setWritten('');
  }, [address.value]);
  useLayoutEffect(() => {
    /** @param {KeyboardEvent} event */
    const focus = (event) => {
      const { key, target, ctrlKey, metaKey, altKey } = event;
      const isText = target instanceof Element && target.closest('input, textarea, select, dialog');
      if (key === '/' && !ctrlKey && !metaKey && !altKey && !isText) {
        event.preventDefault();
        input.current?.focus();
      }
    };
    addEventListener('keydown', focus);
    return () => removeEventListener('keydown', focus);
  }, []);
  /** @param {Event} event */
  const enter = (event) => {
    event.preventDefault();
    setEntered(true);
    setOpen(true);
  };
  const props = { input: input.current, subjects, written, isEntered, onClose: close };
  return h('form', { class: 'find', onSubmit: enter }, [
    h('input', {
      ref: input,
      value: written,
      role: 'combobox',
      'aria-label': text('find'),
      'aria-expanded': isOpen,
      'aria-controls': 'found',
      autocomplete: 'off',
      placeholder: `${text('find')} ( / )`,
      maxLength: 255,
      onFocus: () => setOpen(true),
      onBlur: close,
      onInput: (/** @type {Event} */ { target }) => {
        setWritten(/** @type {HTMLInputElement} */ (target).value);
        setEntered(false);
        setOpen(true);
      },
    }),
    isOpen && h(Lazy, { load: () => import('./found.js'), name: 'Found', props }),
  ]);
}

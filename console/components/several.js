/**
 * The input of a field with ids of several resources, which a person knows by names.
 */

import { address } from '../core/address.js';
import { sourcesOf } from '../core/sources.js';
import { text } from '../core/words.js';
import { useRef, useState } from '../vendor/hooks.js';
import { h } from '../vendor/preact.js';
import { entered } from './fields.js';
import { ChoicesInput } from './inputs.js';
import { useChoices, useNames } from './suggestions.js';

/**
 * Several resources of a list: those that are chosen, and those that a search finds.
 *
 * @param {import('./fields.js').InputProps} props
 */
export function SeveralInput(props) {
  const [written, setWritten] = useState('');
  const sources = sourcesOf(props.field.name, props.draft, {}, address.value.path);
  const { choices: found, total } = useChoices(sources, written, props.field.name === 'roles' ? 'name' : undefined);
  const chosen = idsOf(props.entry);
  const kept = useRef(/** @type {Set<string>} */ (new Set())).current; // also after they are taken away
  chosen.forEach((id) => kept.add(id));
  const names = useNames(sources[0], chosen, found);
  const shown = found.map(({ value }) => value);
  const mores = new Map(found.map(({ value, more }) => [value, more]));
  const choices = [...[...kept].filter((id) => !shown.includes(id)), ...shown].map((id) => ({
    value: id,
    label: [names.get(id) ?? id, mores.get(id)].filter(Boolean).join(' · '),
  }));
  const search = (written !== '' || total > found.length) &&
    h('input', {
      type: 'search',
      'aria-label': text('search'),
      placeholder: text('search'),
      value: written,
      onInput: (/** @type {Event} */ event) => setWritten(entered(event.target)),
      onKeyDown: (/** @type {KeyboardEvent} */ event) => {
        if (event.key === 'Enter') {
          event.preventDefault(); // it does not send the form
        }
      },
    });
  return h(ChoicesInput, { ...props, entry: chosen, choices, search });
}

/**
 * Return the ids of a draft, which the address of a form may have as a text.
 *
 * @param {import('./fields.js').Entry | undefined} entry
 */
function idsOf(entry) {
  const ids = typeof entry === 'string' ? entry.split(/[\s,]+/) : Array.isArray(entry) ? entry.map(String) : [];
  return ids.filter(Boolean);
}

/**
 * The filters of a list that a person gave a name.
 */

import { href } from '../core/address.js';
import { session } from '../core/app.js';
import { partsOf, rememberedList, saveFilters } from '../core/remembered.js';
import { text } from '../core/words.js';
import { useState } from '../vendor/hooks.js';
import { h } from '../vendor/preact.js';

/** Characters of a name. */
const LONGEST = 60;

/**
 * @param {object} props
 * @param {readonly string[]} props.here path of the list
 * @param {Readonly<Record<string, string>>} props.query
 */
export function SavedFilters({ here, query }) {
  const list = here.at(-1) ?? '';
  const [, setRound] = useState(0);
  const { saved } = rememberedList(localStorage, session.owner, list);
  const { filters } = partsOf(query);
  /**
   * @param {string} name
   * @param {Record<string, string> | null} kept
   */
  const keep = (name, kept) => {
    saveFilters(localStorage, session.owner, list, name, kept);
    setRound((before) => before + 1);
  };
  return h('div', { class: 'choices' }, [
    ...Object.entries(saved).map(([name, one]) =>
      h('span', { key: name, class: 'saved' }, [
        h('a', { href: href(here, one) }, name),
        h(
          'button',
          {
            type: 'button',
            class: 'plain',
            'aria-label': `${text('remove')} ${name}`,
            onClick: () => keep(name, null),
          },
          '✕',
        ),
      ]),
    ),
    Object.keys(filters).length === 0
      ? h('p', { class: 'quiet' }, text('no_filters_to_save'))
      : h(
          'form',
          {
            onSubmit: (/** @type {SubmitEvent} */ event) => {
              event.preventDefault();
              const form = /** @type {HTMLFormElement} */ (event.currentTarget);
              const name = String(new FormData(form).get('name') ?? '').trim();
              if (name !== '') {
                keep(name, filters);
                form.reset();
              }
            },
          },
          [
            h('input', { name: 'name', 'aria-label': text('name_of_filters'), placeholder: text('name_of_filters'), maxLength: LONGEST }),
            h('button', {}, text('save')),
          ],
        ),
  ]);
}

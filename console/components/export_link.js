/**
 * The link to the form that exports a whole list, for those who may export.
 */

import { permissions } from '../core/app.js';
import { href } from '../core/address.js';
import { mayCarryOut } from '../core/subject.js';
import { loadInterface, useLoaded } from '../core/use.js';
import { language, text } from '../core/words.js';
import { h } from '../vendor/preact.js';

/**
 * @param {object} props
 * @param {string} props.objects what exports call the rows of the list
 */
export function ExportLink({ objects }) {
  const { result } = useLoaded('exports', () => loadInterface('exports'));
  return mayCarryOut(result?.actions['POST /exports'], permissions())
    ? h('a', { class: 'button', href: href(['exports', 'new'], { objects, format: 'csv', language: language.value }) }, [
        text('export_all'),
      ])
    : null;
}

/**
 * The map of a warehouse as a file: download it, or load a changed one.
 */

import { permissions } from '../core/app.js';
import { saveFile } from '../core/files.js';
import { mayCarryOut } from '../core/subject.js';
import { text } from '../core/words.js';
import { useState } from '../vendor/hooks.js';
import { h } from '../vendor/preact.js';
import { Lazy } from './lazy.js';

/** @typedef {import('../core/plan.js').Place} Place */

/**
 * @param {object} props
 * @param {{id: number, code: string}} props.warehouse
 * @param {import('../core/subject.js').Write} [props.write]
 * @param {Record<string, any> | null} props.map that is published
 * @param {string | null} props.etag of that map
 * @param {readonly Place[] | null} props.places null while they are loaded
 * @param {() => void} props.onPublished
 */
export function LayoutFile({ warehouse, write, map, etag, places, onPublished }) {
  const [draft, setDraft] = useState(/** @type {unknown} */ (null));
  const [problem, setProblem] = useState('');
  /** @param {Event} event */
  const open = async (event) => {
    const input = /** @type {HTMLInputElement} */ (event.currentTarget);
    const file = input.files?.[0];
    setProblem('');
    try {
      setDraft(file ? JSON.parse(await file.text()) : null);
    } catch {
      setProblem(text('no_json'));
    }
    input.value = ''; // the same file can be chosen again after a change
  };
  const fields = write?.body ?? [];
  const save = async () => {
    const content = map ?? (await import('../core/map_draft.js')).draftFrom(places ?? []);
    const own = fields.map(({ name }) => [name, content[name]]);
    const json = JSON.stringify(Object.fromEntries(own), null, 2);
    saveFile(new Blob([json]), `map-${warehouse.code}.json`);
  };
  return h('div', { class: 'tools' }, [
    h('button', { type: 'button', disabled: map === null && places === null, onClick: save }, [
      text(map === null ? 'draft_map' : 'download_map'),
    ]),
    mayCarryOut(write, permissions()) &&
      h('label', { class: 'button' }, [
        text('load_map'),
        h('input', { type: 'file', accept: '.json,application/json', class: 'hidden', onChange: open }),
      ]),
    problem && h('p', { class: 'notice', role: 'alert' }, problem),
    draft !== null &&
      h(Lazy, {
        load: () => import('./layout_preview.js'),
        name: 'LayoutPreview',
        props: {
          warehouse,
          draft,
          etag,
          places: places ?? [],
          onClose: () => setDraft(null),
          onPublished: () => {
            setDraft(null);
            onPublished();
          },
        },
      }),
  ]);
}

/**
 * The files of resources, to print.
 */

import { calls } from '../../core/app.js';
import { pathOf } from '../../core/calls.js';
import { saveFile } from '../../core/files.js';
import { actionLabel, text } from '../../core/words.js';
import { useState } from '../../vendor/hooks.js';
import { h } from '../../vendor/preact.js';
import { Notice } from '../../components/notice.js';

/** The sizes of labels of positions and products. */
const SIZES = /** @type {const} */ ({ small: '60 × 30 mm', medium: '100 × 50 mm', large: '100 × 150 mm' });

/** Ids in one request. */
const MOST_IDS = 100;

/**
 * @param {object} props
 * @param {readonly {path: string, label: string}[]} props.files
 * @param {readonly Record<string, string>[]} props.each ids in the path of each resource
 */
export function Panel({ files, each }) {
  const [error, setError] = useState(/** @type {unknown} */ (null));
  const [size, setSize] = useState('medium');
  const [isBusy, setBusy] = useState(false);
  /** @param {string} path */
  const open = async (path) => {
    setError(null);
    setBusy(true);
    try {
      const found = [];
      for (const parameters of path.includes('{ids}') ? together(each) : each) {
        found.push(await calls.download(pathOf(`GET ${path}`, { ...parameters, size })));
      }
      const [first] = found;
      if (first?.type === 'application/pdf') {
        found.forEach((file) => saveFile(file, file.name, { isShown: found.length === 1 }));
      } else if (first !== undefined) {
        saveFile(new Blob(found), first.name); // a printer takes one after the other
      }
    } catch (refused) {
      setError(refused);
    }
    setBusy(false);
  };
  return h('div', { class: 'actions' }, [
    ...files.map(({ path, label }) =>
      h('button', { key: path, type: 'button', disabled: isBusy, onClick: () => open(path) }, actionLabel(label)),
    ),
    files.some(({ path }) => path.includes('{size}')) &&
      h(
        'select',
        {
          'aria-label': text('label_size'),
          value: size,
          onChange: (/** @type {Event} */ { currentTarget }) =>
            setSize(/** @type {HTMLSelectElement} */ (currentTarget).value),
        },
        Object.entries(SIZES).map(([name, label]) => h('option', { key: name, value: name }, label)),
      ),
    h(Notice, { error }),
  ]);
}

/**
 * The parameters of as few requests as name all resources.
 *
 * @param {readonly Record<string, string>[]} each
 */
function together(each) {
  const ids = each.map(({ id }) => id);
  return ids.flatMap((_, first) => (first % MOST_IDS === 0 ? { ids: ids.slice(first, first + MOST_IDS).join(',') } : []));
}

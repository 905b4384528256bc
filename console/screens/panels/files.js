/**
 * The files of a resource, to print.
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

/**
 * @param {object} props
 * @param {readonly {path: string, label: string}[]} props.files
 * @param {Record<string, string>} props.parameters ids in the path of the resource
 */
export function Panel({ files, parameters }) {
  const [error, setError] = useState(/** @type {unknown} */ (null));
  const [size, setSize] = useState('medium');
  /** @param {string} path */
  const open = async (path) => {
    setError(null);
    try {
      const file = await calls.download(pathOf(`GET ${path}`, { ...parameters, size }));
      saveFile(file, file.name, { isShown: file.type === 'application/pdf' }); // browsers show no ZPL
    } catch (refused) {
      setError(refused);
    }
  };
  return h('div', { class: 'actions' }, [
    ...files.map(({ path, label }) =>
      h('button', { key: path, type: 'button', onClick: () => open(path) }, actionLabel(label)),
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

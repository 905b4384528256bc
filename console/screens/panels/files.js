/**
 * The files of a resource, to print.
 */

import { calls } from '../../core/app.js';
import { pathOf } from '../../core/calls.js';
import { saveFile } from '../../core/files.js';
import { actionLabel } from '../../core/words.js';
import { useState } from '../../vendor/hooks.js';
import { h } from '../../vendor/preact.js';
import { Notice } from '../../components/notice.js';

/**
 * @param {object} props
 * @param {readonly {path: string, label: string}[]} props.files
 * @param {Record<string, string>} props.parameters ids in the path of the resource
 */
export function Panel({ files, parameters }) {
  const [error, setError] = useState(/** @type {unknown} */ (null));
  /** @param {string} path */
  const open = async (path) => {
    setError(null);
    try {
      const file = await calls.download(pathOf(`GET ${path}`, parameters));
      saveFile(file, file.name, { isShown: file.type === 'application/pdf' }); // browsers show no ZPL
    } catch (refused) {
      setError(refused);
    }
  };
  return h('div', { class: 'actions' }, [
    ...files.map(({ path, label }) =>
      h('button', { key: path, type: 'button', onClick: () => open(path) }, actionLabel(label)),
    ),
    h(Notice, { error }),
  ]);
}

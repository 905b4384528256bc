/**
 * The upload of a spreadsheet: choose what it has, download the template, drop the file.
 *
 * A file of at most 4 MB goes with the request. A larger one goes to the storage; the status of the
 * import shows when its validation starts.
 */

import { browser, calls, newAction } from '../core/app.js';
import { address, go, href } from '../core/address.js';
import { saveFile } from '../core/files.js';
import { isUnknown, NoAnswer, Refusal } from '../core/refusal.js';
import { loadInterface, useLoaded } from '../core/use.js';
import { language, subjectLabel, text, valueLabel } from '../core/words.js';
import { useRef, useState } from '../vendor/hooks.js';
import { h } from '../vendor/preact.js';
import { Notice } from '../components/notice.js';
import { Title } from '../components/title.js';

/** Bytes up to which the file goes with the request. */
const WITH_REQUEST = 4_000_000;

export function Upload() {
  const description = useLoaded('imports', () => loadInterface('imports'));
  const [kind, setKind] = useState('products');
  const [file, setFile] = useState(/** @type {File | null} */ (null));
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState(/** @type {unknown} */ (null));
  const action = useRef(newAction());
  const isOpen = isUnknown(error) && action.current.isOpen;
  const isFixed = isBusy || isOpen;
  const body = description.result?.actions['POST /imports']?.body ?? [];
  const kinds = body.find(({ name }) => name === 'kind')?.choices ?? [];
  /** @param {SubmitEvent} event */
  const submit = async (event) => {
    event.preventDefault();
    if (file === null) {
      return;
    }
    const here = address.value;
    setBusy(true);
    setError(null);
    if (!(await isReadable(file))) {
      action.current = newAction();
      setFile(null);
      setError(new Error(text('file_changed')));
      return setBusy(false);
    }
    try {
      const id = await action.current.run((key) => send(key, kind, file));
      if (address.value === here) {
        go(href(['imports', id]), { replace: true });
      }
    } catch (refused) {
      setError(refused);
      setBusy(false);
    }
  };
  return h('section', {}, [
    h('header', { class: 'screen' }, h(Title, { title: text('upload_file') })),
    h(Notice, { error: description.error, onRetry: description.reload }),
    h(Notice, { error, isWrite: isOpen }),
    h('form', { onSubmit: submit }, [
      h('div', { class: 'field' }, [
        h('label', { for: 'kind' }, text('import_kind')),
        h(
          'select',
          {
            id: 'kind',
            value: kind,
            disabled: isFixed,
            onChange: (/** @type {Event} */ event) =>
              setKind(/** @type {HTMLSelectElement} */ (event.currentTarget).value),
          },
          kinds.map((one) => h('option', { key: one, value: String(one) }, valueLabel(one))),
        ),
      ]),
      h(
        'button',
        { type: 'button', onClick: () => saveTemplate(kind).catch(setError) },
        text('download_template'),
      ),
      h(
        'label',
        {
          class: 'drop',
          onDragOver: (/** @type {Event} */ event) => event.preventDefault(),
          onDrop: (/** @type {DragEvent} */ event) => {
            event.preventDefault();
            if (!isFixed) {
              setFile(event.dataTransfer?.files[0] ?? null);
            }
          },
        },
        [
          h('span', {}, file === null ? text('drop_file') : file.name),
          h('input', {
            type: 'file',
            onClick: (/** @type {Event} */ event) => {
              // the same file can be chosen again after a change
              /** @type {HTMLInputElement} */ (event.currentTarget).value = '';
            },
            accept: '.xlsx,.csv',
            disabled: isFixed,
            onChange: (/** @type {Event} */ event) =>
              setFile(/** @type {HTMLInputElement} */ (event.currentTarget).files?.[0] ?? null),
          }),
        ],
      ),
      h('footer', {}, [
        h('a', { class: 'button', href: href(['imports']) }, subjectLabel('imports')),
        h('button', { class: 'main', disabled: isBusy || file === null }, [
          text(isBusy ? 'uploading' : isOpen ? 'try_again' : 'upload'),
        ]),
      ]),
    ]),
  ]);
}

/**
 * Return whether a file is still as it was chosen: browsers refuse to send one that changed since,
 * and say no more than without a network.
 *
 * @param {File} file
 */
async function isReadable(file) {
  try {
    const reader = file.stream().getReader();
    await reader.read();
    await reader.cancel();
    return true;
  } catch {
    return false;
  }
}

/**
 * @param {string} key
 * @param {string} kind
 * @param {File} file
 * @returns {Promise<number>} id of the import
 */
async function send(key, kind, file) {
  if (file.size <= WITH_REQUEST) {
    return idOf(await calls.write('POST /imports', { key, body: /** @type {any} */ ({ kind, file }) }));
  }
  const body = /** @type {any} */ ({ kind, filename: file.name });
  const pending = await calls.write('POST /imports/uploads', { key, body });
  const { upload } = /** @type {any} */ (pending.body).data;
  const form = new FormData();
  for (const [name, value] of Object.entries(upload.fields)) {
    form.set(name, String(value));
  }
  form.set('file', file);
  let response;
  try {
    response = await browser.fetch(upload.url, { method: 'POST', body: form });
  } catch (error) {
    throw new NoAnswer(error);
  }
  if (!response.ok) {
    throw new Refusal(response.status, 'upload_refused', text('upload_refused'));
  }
  return idOf(pending);
}

/** @param {{body: unknown}} answer */
function idOf({ body }) {
  return /** @type {{data: {id: number}}} */ (body).data.id;
}

/** @param {string} kind */
async function saveTemplate(kind) {
  saveFile(await calls.download(`/imports/templates/${kind}?lang=${language.value}`), `${kind}.xlsx`);
}

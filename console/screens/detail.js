/**
 * One resource: its fields, its lines, what belongs to it, and the actions that its state allows.
 */

import { calls, permissions, session } from '../core/app.js';
import { pathOf } from '../core/calls.js';
import { go, href } from '../core/address.js';
import { saveFile } from '../core/files.js';
import { readable } from '../core/links.js';
import { allowedActions, itemPath, labelOf, mayCarryOut } from '../core/subject.js';
import { loadDescription, useLoaded } from '../core/use.js';
import { actionLabel, fieldLabel, subjectLabel, text, valueLabel } from '../core/words.js';
import { useEffect, useRef, useState } from '../vendor/hooks.js';
import { h } from '../vendor/preact.js';
import { Lazy } from '../components/lazy.js';
import { Notice } from '../components/notice.js';
import { Definitions } from '../components/definitions.js';
import { Secrets, secretsOf } from '../components/secrets.js';
import { Table } from '../components/table.js';
import { Title } from '../components/title.js';

/**
 * @typedef {import('../core/subject.js').Subject} Subject
 * @typedef {import('../core/subject.js').Interface} Interface
 * @typedef {import('../core/subject.js').Field} Field
 * @typedef {import('../core/subject.js').Action} Action
 * @typedef {Record<string, any>} Resource
 */

/** Milliseconds between two looks at something that goes on by itself. */
const PAUSE = 2000;

/** Load the dialogs when one is opened: most visits need none. */
const loadDialogs = () => import('./dialogs.js');

/**
 * @param {object} props
 * @param {Subject} props.subject
 * @param {Record<string, string>} props.parameters ids in the path of the resource
 */
export function DetailScreen({ subject, parameters }) {
  const path = itemPath(subject);
  const description = useLoaded(path, () => loadDescription(subject));
  const loaded = useLoaded(`${path} ${JSON.stringify(parameters)}`, async (signal) => {
    const operation = /** @type {'GET /products/{id}'} */ (`GET ${path}`);
    const { body, etag } = await calls.read(operation, { parameters, signal });
    const resource = /** @type {Resource} */ (body.data);
    return { resource, etag };
  });
  const fields = description.result?.details[path]?.fields;
  if (loaded.result === null || fields === undefined || description.result === null) {
    const error = loaded.error ?? description.error;
    return error
      ? h('article', {}, [
          h(Head, { subject, parameters, title: `${subjectLabel(subject.name)} ${Object.values(parameters).at(-1)}` }),
          h(Notice, { error, onRetry: loaded.reload }),
        ])
      : h('p', { class: 'quiet' }, text('loading'));
  }
  return h(DetailView, {
    subject,
    parameters,
    description: description.result,
    fields,
    ...loaded.result,
    error: loaded.error,
    isLoading: loaded.isLoading,
    onChange: loaded.reload,
  });
}

/**
 * @param {object} props
 * @param {Subject} props.subject
 * @param {Record<string, string>} props.parameters
 * @param {Interface} props.description
 * @param {readonly Field[]} props.fields
 * @param {Resource} props.resource
 * @param {string | null} props.etag
 * @param {unknown} props.error
 * @param {boolean} props.isLoading
 * @param {() => void} props.onChange
 */
function DetailView({ fields, error, isLoading, ...props }) {
  const { subject, parameters, description, resource, etag, onChange } = props;
  const isDue = !isLoading && !error && subject.waits?.includes(resource.status) === true;
  useEffect(() => {
    // another look would stop a slow one
    const timer = isDue ? setTimeout(onChange, PAUSE) : undefined;
    return () => clearTimeout(timer);
  }, [isDue]);
  const isTable = (/** @type {Field} */ field) =>
    field.type === 'array' && field.items?.type === 'object';
  const name = subject.title === 'id' ? null : resource[subject.title];
  const title = String(name ?? `${valueLabel(subject.kind)} ${resource.id}`);
  const shown = readable(fields).filter(({ name }) => !subject.hidden?.includes(name));
  return h('article', {}, [
    h(Head, { subject, parameters, title }),
    h(Notice, { error, onRetry: onChange }),
    h(Actions, { subject, parameters, description, resource, title, etag, onChange }),
    h(Files, { subject, parameters }),
    h(Definitions, {
      fields: shown.filter((field) => !isTable(field)),
      values: resource,
      links: subject.links,
    }),
    ...shown
      .filter((field) => isTable(field) && resource[field.name]?.length > 0)
      .map(({ name, items }) => {
        const caption = fieldLabel(name);
        const props = { caption, columns: readable(items?.fields ?? []), rows: resource[name] };
        return h('section', { key: name }, [
          h('h2', {}, caption),
          subject.sells
            ? h(Lazy, { load: () => import('../components/sellable.js'), name: 'OrderLines', props })
            : h(Table, props),
        ]);
      }),
    h(Related, { subject, resource }),
    subject.panels?.map((name) =>
      h(Lazy, {
        key: name,
        load: () => import(`./panels/${name}.js`),
        name: 'Panel',
        props: { resource, etag, description, onChange },
      }),
    ),
    subject.parent === undefined &&
      h(Lazy, { load: () => import('./panels/history.js'), name: 'Panel', props: { subject, resource } }),
  ]);
}

/**
 * @param {object} props
 * @param {Subject} props.subject
 * @param {Record<string, string>} props.parameters
 * @param {string} props.title
 */
function Head({ subject, parameters, title }) {
  return h('header', { class: 'screen' }, [
    h('p', {}, h('a', { href: href(listAddress(subject, parameters)) }, subjectLabel(subject.name))),
    h(Title, { title }),
  ]);
}

/**
 * Return the address of the list of a resource.
 *
 * @param {Subject} subject
 * @param {Record<string, string>} parameters
 */
function listAddress({ name, parent }, parameters) {
  return parent === undefined ? [name] : [parent, parameters.id ?? '', name];
}

/**
 * The files of a resource, to print.
 *
 * @param {object} props
 * @param {Subject} props.subject
 * @param {Record<string, string>} props.parameters
 */
function Files({ subject, parameters }) {
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
    ...(subject.files ?? []).map(({ path, label }) =>
      h('button', { key: path, type: 'button', onClick: () => open(path) }, actionLabel(label)),
    ),
    h(Notice, { error }),
  ]);
}

/**
 * @param {object} props
 * @param {Subject} props.subject
 * @param {Resource} props.resource
 */
function Related({ subject: { name, related = {}, parts = [] }, resource }) {
  if (Object.keys(related).length + parts.length === 0) {
    return null;
  }
  return h('nav', { 'aria-label': text('related') }, [
    h('h2', {}, text('related')),
    h(
      'ul',
      {},
      [
        ...Object.entries(related).map(([key, { subject, filter }]) =>
          h('li', { key }, [
            h(
              'a',
              { href: href([subject], { [key.split('.')[1] ?? '']: resource[filter] }) },
              subjectLabel(subject),
            ),
          ]),
        ),
        ...parts.map((part) =>
          h('li', { key: part }, [
            h('a', { href: href([name, resource.id, part]) }, subjectLabel(part)),
          ]),
        ),
      ],
    ),
  ]);
}

/**
 * @param {object} props
 * @param {Subject} props.subject
 * @param {Record<string, string>} props.parameters
 * @param {Interface} props.description
 * @param {Resource} props.resource
 * @param {string} props.title
 * @param {string | null} props.etag
 * @param {() => void} props.onChange
 */
function Actions({ subject, parameters, description, resource, title, etag, onChange }) {
  const [chosen, setChosen] = useState(/** @type {Action | null} */ (null));
  const [isChanging, setChanging] = useState(false);
  const [secrets, setSecrets] = useState(/** @type {Record<string, string>} */ ({}));
  const hasActed = useRef(false);
  useEffect(() => {
    if (hasActed.current && document.activeElement === document.body) {
      // the button that had the focus is gone with the state that allowed it
      document.querySelector('h1')?.focus({ preventScroll: true });
    }
    hasActed.current = false;
  }, [resource]);
  const user = session.user.value?.userId;
  const actions = allowedActions(subject, description, resource, permissions(), user);
  const change = subject.change === undefined ? undefined : description.actions[subject.change];
  /** @param {any} answer */
  const finish = (answer) => {
    hasActed.current = true;
    setChosen(null);
    setChanging(false);
    setSecrets(secretsOf(answer.body?.data));
    onChange();
  };
  /**
   * An action at another subject, such as a receipt for a document, is a form of that subject.
   *
   * @param {Action} action
   */
  const choose = (action) => {
    const path = action.operation.split(' ')[1] ?? '';
    if (path.includes('{')) {
      setChosen(action);
    } else {
      go(href([path.slice(1), 'new'], { [action.field ?? 'document_id']: resource.id }));
    }
  };
  return h('div', { class: 'actions' }, [
    mayCarryOut(change, permissions()) &&
      resource.status !== 'closed' &&
      h('button', { type: 'button', onClick: () => setChanging(true) }, text('change')),
    ...actions.map((action, at) =>
      h(
        'button',
        {
          key: labelOf(action, description),
          type: 'button',
          class: action.endsWork ? 'danger' : at === 0 ? 'main' : undefined,
          onClick: () => choose(action),
        },
        labelOf(action, description),
      ),
    ),
    Object.keys(secrets).length > 0 &&
      h(Secrets, { secrets, onClose: () => setSecrets({}) }),
    chosen !== null &&
      h(Lazy, {
        key: chosen.operation,
        load: loadDialogs,
        name: 'ActionDialog',
        props: {
          action: chosen,
          parameters,
          description,
          target: title,
          etag,
          onStale: onChange,
          onClose: () => setChosen(null),
          onDone: (/** @type {any} */ answer) => {
            if (chosen.operation === `DELETE ${itemPath(subject)}`) {
              go(href(listAddress(subject, parameters)), { replace: true });
            } else if (chosen.leads !== undefined) {
              go(href([subject.name, resource.id, chosen.leads, answer.body.data.id]));
            } else {
              finish(answer);
            }
          },
        },
      }),
    isChanging &&
      h(Lazy, {
        load: loadDialogs,
        name: 'ChangeDialog',
        props: {
          operation: subject.change ?? '',
          parameters,
          label: text('change'),
          fields: change?.body ?? [],
          resource: { ...resource, ...subject.formValues?.(resource) },
          etag,
          onStale: onChange,
          onClose: () => setChanging(false),
          onDone: finish,
        },
      }),
  ]);
}

/**
 * One resource: its fields, its lines, what belongs to it, and the actions that its state allows.
 */

import { calls, permissions, session } from '../core/app.js';
import { href } from '../core/address.js';
import { readable } from '../core/links.js';
import { allowedActions, isAtOnce, lineLabel, startsAt } from '../core/actions.js';
import { useProductNames } from '../core/names.js';
import { printScreen } from '../core/print.js';
import { rememberOpened } from '../core/recent.js';
import { itemPath, listAddress, mayCarryOut, objectOf } from '../core/subject.js';
import { loadDescription, loadInterface, useLoaded } from '../core/use.js';
import { SUBJECT } from '../subjects.js';
import { actionLabel, fieldLabel, subjectLabel, text, valueLabel } from '../core/words.js';
import { useEffect, useMemo, useState } from '../vendor/hooks.js';
import { h } from '../vendor/preact.js';
import { Actions } from '../components/actions.js';
import { Lazy } from '../components/lazy.js';
import { Notice } from '../components/notice.js';
import { Definitions } from '../components/definitions.js';
import { isEmpty } from '../components/parts.js';
import { Table } from '../components/table.js';
import { Title } from '../components/title.js';

/**
 * @typedef {import('../core/subject.js').Subject} Subject
 * @typedef {import('../core/subject.js').Interface} Interface
 * @typedef {import('../core/subject.js').Field} Field
 * @typedef {import('../core/actions.js').Action} Action
 * @typedef {import('../core/actions.js').Resource} Resource
 * @typedef {import('../components/actions.js').Chosen} Chosen
 */

const PRODUCT_NAME = /** @type {const} */ ({ name: 'product_name', type: 'text' });

/** Milliseconds between two looks at something that goes on by itself. */
const PAUSE = 2000;

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
  const expected = useExpected(subject, resource, etag);
  const [chosen, setChosen] = useState(/** @type {Chosen | null} */ (null));
  const [acted, setActed] = useState(/** @type {Resource | null} */ (null)); // as it was before the last action
  const isBusy = acted === resource || (chosen !== null && isAtOnce(chosen.action, resource));
  const [made, setMade] = useState(/** @type {import('../core/description.js').Made} */ ({}));
  const user = session.user.value?.userId;
  useEffect(() => {
    if (subject.parent === undefined) {
      rememberOpened(sessionStorage, session.owner, { subject: subject.name, id: `${resource.id}`, title });
    }
  }, [title]);
  const actions = allowedActions(subject, description, resource, permissions(), user);
  const tables = [
    ...(expected.result ?? []),
    ...shown
      .filter((field) => isTable(field) && resource[field.name]?.length > 0)
      .map(({ name, items }) => ({ name, columns: readable(items?.fields ?? []), rows: resource[name] })),
  ];
  /** @param {Action} action */
  const linesOf = ({ at = 'lines' }) => tables.find(({ name }) => name === at)?.rows ?? [];
  const offered = actions.filter((one) => !one.isForAll || startsAt(one, linesOf(one)).length > 0);
  const nameless = tables.filter(({ columns }) => columns.some(isCode) && !columns.some(isName));
  const hasGoods = `${itemPath(subject)}/goods` in description.details;
  const names = useProductNames(
    nameless.flatMap(({ rows }) => rows),
    hasGoods ? { subject: subject.name, id: resource.id } : null,
  );
  const create = subject.create === undefined ? undefined : description.actions[subject.create];
  const { sheet } = subject;
  const sheetTable = sheet && tables.find(({ name }) => name === (sheet.at ?? 'lines'));
  const [isPrinting, setPrinting] = useState(false);
  return h('article', {}, [
    h(Head, { subject, parameters, title, isCopied: mayCarryOut(create, permissions()) && subject.copies !== undefined }),
    h(Notice, { error, onRetry: onChange }),
    h(Notice, { error: expected.error, onRetry: expected.reload }),
    subject.isApproved &&
      h(Lazy, {
        load: () => import('../components/granted.js'),
        name: 'Granted',
        props: { about: { object: subject.kind, id: resource.id }, onDone: onChange },
      }),
    h(Actions, {
      subject,
      parameters,
      description,
      resource,
      title,
      etag,
      onChange,
      actions: offered.filter(({ isOnlyAtLines }) => !isOnlyAtLines),
      linesOf,
      chosen,
      onChoose: setChosen,
      isBusy,
      onActed: () => setActed(resource),
      made,
    }),
    sheetTable &&
      h('div', { class: 'actions' }, [
        h('button', { type: 'button', onClick: () => setPrinting(true) }, actionLabel(sheet.label)),
      ]),
    isPrinting &&
      h(Lazy, {
        load: () => import('../components/sheet.js'),
        name: 'Sheet',
        props: { title, subject: subject.name, resource, sheet, table: sheetTable, onDone: () => setPrinting(false) },
      }),
    subject.files &&
      h(Lazy, { load: () => import('./panels/files.js'), name: 'Panel', props: { files: subject.files, each: [parameters] } }),
    h(Definitions, {
      fields: shown.filter((field) => !isTable(field) && !isEmpty(resource[field.name])),
      values: resource,
      links: subject.links,
    }),
    ...tables.map(({ name, columns, rows }) => {
      const caption = fieldLabel(name);
      const here = offered.filter(({ at = 'lines', line, isForAll }) => line && at === name && !isForAll);
      /** @param {Resource} row */
      const buttonsOf = (row) =>
        here.flatMap((action) =>
          startsAt(action, [row]).map(({ values }) =>
            h(
              'button',
              { key: lineLabel(action, description), type: 'button', disabled: isBusy, onClick: () => setChosen({ action, values }) },
              lineLabel(action, description),
            ),
          ),
        );
      const props = { caption, columns, rows, names, ...(here.length > 0 ? { buttonsOf } : {}) };
      return h('section', { key: name }, [h('h2', {}, caption), h(Lines, { subject, resource, ...props })]);
    }),
    ...Object.entries(subject.related ?? {})
      .filter(([, { isShown }]) => isShown)
      .map(([key, { subject: name, filter }]) =>
        h(Lazy, {
          key,
          load: () => import('../components/related_rows.js'),
          name: 'RelatedRows',
          props: {
            name,
            query: { [key.split('.')[1] ?? '']: String(resource[filter]) },
            onRows: (/** @type {readonly Resource[]} */ rows) => setMade((before) => ({ ...before, [name]: rows })),
          },
        }),
      ),
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
    subject.parent === undefined && h(Changes, { subject, resource }),
  ]);
}

/** @param {Field} field */
const isCode = ({ name }) => name === 'item_code';
/** @param {Field} field */
const isName = ({ name }) => name === 'product_name';

/**
 * A table of lines, with the names of their products.
 *
 * @param {{subject: Subject, resource: Resource, names: ReadonlyMap<string, string> | null,
 *   rows: readonly Resource[]} & Omit<Parameters<typeof Table>[0], 'rows'>} props
 */
function Lines({ subject, resource, names, columns, rows, ...others }) {
  const isNamed = names !== null && names.size > 0 && columns.some(isCode) && !columns.some(isName);
  const named = useMemo(
    () => (isNamed ? rows.map((row) => ({ ...row, product_name: names.get(row.item_code) ?? null })) : rows),
    [rows, names],
  );
  const at = columns.findIndex(isCode) + 1;
  const shown = isNamed ? [...columns.slice(0, at), PRODUCT_NAME, ...columns.slice(at)] : columns;
  const props = { ...others, columns: shown, rows: named };
  return subject.lines === undefined
    ? h(Table, props)
    : h(Lazy, {
        load: () => import(`../components/${subject.lines}.js`),
        name: 'Lines',
        props: { ...props, resource },
      });
}

/**
 * Read the table of the lines of another resource that are worked on, again with each change of this
 * one; none if there are no such lines.
 *
 * @param {Subject} subject
 * @param {Resource} resource
 * @param {string | null} etag
 */
function useExpected({ expected }, resource, etag) {
  const id = expected?.statuses.includes(resource.status) ? expected.id(resource) : undefined;
  return useLoaded(`expected ${id} ${etag} ${resource.updated_at}`, async (signal) => {
    const other = SUBJECT.get(expected?.subject ?? '');
    if (expected === undefined || other === undefined || id === undefined) {
      return [];
    }
    const operation = /** @type {'GET /products/{id}'} */ (`GET ${itemPath(other)}`);
    const [description, { body }] = await Promise.all([
      loadInterface(other.name),
      calls.read(operation, { parameters: { id }, signal }),
    ]);
    const { fields = [] } = description.details[itemPath(other)] ?? {};
    const all = fields.find(({ name }) => name === 'lines')?.items?.fields ?? [];
    const { lines } = /** @type {Resource} */ (body.data);
    return [
      {
        name: 'expected',
        columns: all.filter(({ name }) => expected.columns.includes(name)),
        rows: /** @type {Resource[]} */ (lines),
      },
    ];
  });
}

/**
 * What changed, loaded when somebody asks for it: most visits do not.
 *
 * @param {object} props
 * @param {Subject} props.subject
 * @param {Resource} props.resource
 */
function Changes({ subject, resource }) {
  const [isOpen, setOpen] = useState(false);
  const object = objectOf(subject);
  if (object === undefined) {
    return null;
  }
  return h(
    'details',
    {
      onToggle: (/** @type {Event} */ { currentTarget }) =>
        setOpen(/** @type {HTMLDetailsElement} */ (currentTarget).open),
    },
    [
      h('summary', {}, text('what_changed')),
      isOpen &&
        h(Lazy, { load: () => import('./panels/changes.js'), name: 'Panel', props: { object, resource } }),
    ],
  );
}

/**
 * @param {object} props
 * @param {Subject} props.subject
 * @param {Record<string, string>} props.parameters
 * @param {string} props.title
 * @param {boolean} [props.isCopied] whether another one can be made of it
 */
function Head({ subject, parameters, title, isCopied = false }) {
  return h('header', { class: 'screen' }, [
    h('p', {}, h('a', { href: href(listAddress(subject, parameters)) }, subjectLabel(subject.from ?? subject.name))),
    h(Title, { title }),
    isCopied && h('a', { class: 'button', href: href([subject.name, 'new'], { from: parameters.id }) }, text('new_from_this')),
    h('button', { type: 'button', onClick: printScreen }, text('print')),
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

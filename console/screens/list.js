/**
 * A list of the interface. The address holds its search, filters, order, columns and page.
 */

import { calls, locale, permissions, session } from '../core/app.js';
import { address, go, href } from '../core/address.js';
import { formatNumber } from '../core/format.js';
import { printScreen } from '../core/print.js';
import { Refusal } from '../core/refusal.js';
import { hasFilters, partsOf, rememberedList, rememberList } from '../core/remembered.js';
import { linkOf, readable } from '../core/links.js';
import { itemPath, listPath, mayCarryOut, objectOf } from '../core/subject.js';
import { loadDescription, useLoaded, useRefresh } from '../core/use.js';
import { actionLabel, fieldLabel, subjectLabel, text } from '../core/words.js';
import { useEffect, useMemo, useRef } from '../vendor/hooks.js';
import { h } from '../vendor/preact.js';
import { signal } from '../vendor/signals-core.js';
import { choiceOf } from '../components/choice.js';
import { Csv } from '../components/csv.js';
import { Filters } from '../components/filters.js';
import { Lazy } from '../components/lazy.js';
import { Notice } from '../components/notice.js';
import { SavedFilters } from '../components/saved_filters.js';
import { Table } from '../components/table.js';
import { Title } from '../components/title.js';

/**
 * A list shows pages with their numbers, or, without `meta`, one after the other.
 *
 * @typedef {import('../core/subject.js').Subject} Subject
 * @typedef {import('../core/subject.js').List} List
 * @typedef {import('../core/subject.js').Field} Field
 * @typedef {import('../core/subject.js').Interface} Interface
 * @typedef {{current_page: number, from: number | null, to: number | null, last_page: number,
 *   per_page: number, total: number}} Meta
 * @typedef {{data: Record<string, unknown>[], links: {next: string | null}, meta?: Meta}} Page
 */

/** Milliseconds after which a list is read again. */
const PAUSE = 30_000;

/** Parameters of the address that are no filters of the list. */
const OWN = new Set(['columns', 'sort', 'page', 'per_page', 'cursor']);

/**
 * @param {object} props
 * @param {Subject} props.subject
 * @param {string} [props.id] id of the resource whose part the list is
 */
export function ListScreen({ subject, id = '' }) {
  const { query } = address.value;
  const { filters } = rememberedList(localStorage, session.owner, subject.name);
  const isAgain = Object.keys(query).length === 0 && Object.keys(filters).length > 0;
  useEffect(() => {
    if (isAgain) {
      go(href(pathOf(subject, id), filters), { replace: true });
    }
  }, [isAgain]);
  if (isAgain) {
    return null;
  }
  return subject.about !== undefined && !query[subject.about.filter]
    ? h(Lazy, { load: () => import('../components/list_of.js'), name: 'ListOf', props: { subject } })
    : h(LoadedList, { subject, id });
}

/**
 * @param {object} props
 * @param {Subject} props.subject
 * @param {string} props.id
 */
function LoadedList({ subject, id }) {
  const { view } = rememberedList(localStorage, session.owner, subject.name);
  const query = { ...view, ...address.value.query };
  const path = listPath(subject);
  const description = useLoaded(path, () => loadDescription(subject));
  const { columns: _, ...asked } = query;
  const page = useLoaded(`${path} ${id} ${JSON.stringify(asked)}`, async (signal) => {
    const operation = /** @type {'GET /products'} */ (`GET ${path}`);
    const { body } = await calls.read(operation, { parameters: { id }, query: asked, signal });
    return /** @type {Page} */ (/** @type {unknown} */ (body));
  });
  const list = description.result?.lists[path];
  if (list === undefined || description.result === null) {
    return h(Notice, { error: description.error, onRetry: description.reload });
  }
  return h(ListView, { subject, id, query, list, description: description.result, page });
}

/**
 * @param {object} props
 * @param {Subject} props.subject
 * @param {string} props.id
 * @param {Readonly<Record<string, string>>} props.query of the address, and how the list was shown last
 * @param {List} props.list
 * @param {Interface} props.description
 * @param {import('../core/use.js').Loaded<Page>} props.page
 */
function ListView({ subject, id, query, list, description, page }) {
  const title = subjectLabel(subject.name);
  const columns = columnsOf(subject, list, query.columns);
  const { columns: _, ...asked } = query;
  const shown = page.error ? null : page.result; // not the rows of the filters before
  const rows = shown?.data ?? [];
  const isFiltered = Object.keys(query).some((name) => !OWN.has(name));
  const here = pathOf(subject, id);
  const hasDetail = itemPath(subject) in description.details;
  const hasIds = list.fields.some(({ name }) => name === 'id');
  const isFilter = (/** @type {string} */ wanted) => list.filters.some(({ name }) => name === wanted);
  const { create, more = [] } = subject;
  const place = JSON.stringify([here, query]);
  const chosen = useMemo(() => signal(/** @type {ReadonlySet<unknown>} */ (new Set())), [place]);
  const chosenRows = rows.filter(({ id }) => chosen.value.has(id));
  const lastChosen = useRef(''); // where rows were chosen: the results of what was done stay there
  lastChosen.current = chosenRows.length > 0 ? place : lastChosen.current;
  /** @param {Record<string, any>} row */
  const nameOf = (row) => String(row[subject.title] ?? row.id);
  /** @param {Record<string, string | number | null>} changes */
  const show = (changes) => {
    const next = { ...query, page: null, cursor: null, ...changes };
    const { view, filters } = partsOf(next);
    const isFiltering = hasFilters(Object.keys(changes)); // those of a link are not remembered
    rememberList(localStorage, session.owner, subject.name, { view, ...(isFiltering && { filters }) });
    go(href(here, next));
  };
  useRefresh(() => chosenRows.length === 0 && page.refresh(), PAUSE);
  return h('section', {}, [
    h('header', { class: 'screen' }, [
      subject.parent !== undefined &&
        h('p', {}, h('a', { href: href([subject.parent, id]) }, `${subjectLabel(subject.parent)} ${id}`)),
      h(Title, { title }),
      ...[...(create === undefined ? [] : [create]), ...more]
        .filter((operation) => mayCarryOut(description.actions[operation], permissions()))
        .map((operation) =>
          h(
            'a',
            {
              key: operation,
              class: operation === create ? 'button main' : 'button',
              href: href([...here, 'new'], { as: operation === create ? '' : operation }),
            },
            actionLabel(description.actions[operation]?.name ?? operation),
          ),
        ),
    ]),
    h('div', { class: 'tools' }, [
      isFilter('search') && h(Search, { query, onSearch: show }),
      !isFilter('search') &&
        isFilter('item_code') &&
        h(Lazy, {
          load: () => import('../components/product_search.js'),
          name: 'ProductSearch',
          props: { code: query.item_code ?? '', onChoose: (/** @type {string} */ code) => show({ item_code: code }) },
        }),
      h(Filters, { list, query, onApply: show }),
      h(ColumnChoice, { list, columns, onChoose: (names) => show({ columns: names }) }),
      h('details', { class: 'menu' }, [
        h('summary', { class: 'button' }, text('saved_filters')),
        h(SavedFilters, { here, query }),
      ]),
      rows.length > 0 &&
        h(Csv, {
          title,
          columns,
          rows,
          chosen: chosenRows,
          path: listPath(subject),
          parameters: { id },
          query: asked,
          total: shown?.meta?.total ?? (shown?.links.next ? undefined : rows.length),
        }),
      rows.length > 0 && h('button', { type: 'button', onClick: printScreen }, text('print')),
      rows.length > 0 &&
        objectOf(subject) !== undefined &&
        h(Lazy, { load: () => import('../components/export_link.js'), name: 'ExportLink', props: { objects: objectOf(subject) } }),
    ]),
    page.error instanceof Refusal &&
      page.error.status === 422 &&
      h('p', {}, [
        `${text('list_refused')} `,
        h('button', { type: 'button', onClick: () => show(Object.fromEntries(Object.keys(query).map((name) => [name, null]))) }, text('clear')),
      ]),
    h(Notice, { error: page.error, onRetry: page.reload }),
    subject.setting &&
      h(Lazy, { load: () => import('../components/setting_off.js'), name: 'SettingOff', props: { name: subject.setting } }),
    lastChosen.current === place &&
      h(Lazy, {
        key: place,
        load: () => import('../components/many.js'),
        name: 'Many',
        props: {
          subject,
          description,
          rows: chosenRows,
          nameOf,
          onDone: (/** @type {readonly Record<string, unknown>[]} */ done) => {
            const ids = new Set(done.map(({ id }) => id));
            chosen.value = new Set([...chosen.value].filter((id) => !ids.has(id)));
            page.reload();
          },
        },
      }),
    rows.length > 0
      ? h(Table, {
          caption: title,
          choice: hasIds ? choiceOf({ chosen, idOf: ({ id }) => id, nameOf }) : undefined,
          columns,
          rows,
          sorts: list.sorts,
          sort: query.sort ?? list.sort ?? '',
          onSort: (sort) => show({ sort }),
          isLoading: page.isLoading,
          linkOf: (field, row) => {
            const isTitle = field.name === subject.title || field === columns[0];
            return hasDetail && isTitle
              ? href([...here, String(row.id)])
              : linkOf(field.name, row, subject.links);
          },
        })
      : h('p', { class: 'quiet' }, emptyText(page, isFiltered)),
    shown?.meta && h(Pager, { meta: shown.meta, onShow: show }),
    shown && !shown.meta && h(Onward, { query, next: shown.links.next, onShow: show }),
  ]);
}

/**
 * Return the path of the screen of a list.
 *
 * @param {Subject} subject
 * @param {string} id of the resource whose part the list is
 */
function pathOf({ name, parent }, id) {
  return parent === undefined ? [name] : [parent, id, name];
}

/**
 * @param {import('../core/use.js').Loaded<Page>} page
 * @param {boolean} isFiltered
 */
function emptyText(page, isFiltered) {
  if (page.isLoading) {
    return text('loading');
  }
  const { total = page.result?.links.next ? 1 : 0 } = page.result?.meta ?? {};
  if (page.error) {
    return '';
  }
  return total > 0 ? text('page_empty') : text(isFiltered ? 'nothing_found' : 'nothing_there');
}

/**
 * @param {Subject} subject
 * @param {List} list
 * @param {string | undefined} chosen names with commas in between
 * @returns {Field[]}
 */
function columnsOf(subject, list, chosen) {
  const names = chosen ? chosen.split(',') : subject.columns;
  const found = names.map((name) => list.fields.find((field) => field.name === name));
  const known = found.filter((field) => field !== undefined);
  return known.length > 0 ? known : columnsOf(subject, list, undefined);
}

/**
 * @param {object} props
 * @param {Readonly<Record<string, string>>} props.query
 * @param {(changes: Record<string, string | null>) => void} props.onSearch
 */
function Search({ query, onSearch }) {
  return h(
    'form',
    {
      role: 'search',
      onSubmit: (/** @type {SubmitEvent} */ event) => {
        event.preventDefault();
        const data = new FormData(/** @type {HTMLFormElement} */ (event.currentTarget));
        onSearch({ search: String(data.get('search') ?? '').trim() });
      },
    },
    [
      h('input', {
        ref: useShown(query.search ?? ''),
        type: 'search',
        name: 'search',
        'aria-label': text('search'),
        placeholder: text('search'),
        maxLength: 255,
      }),
      h('button', {}, text('search')),
    ],
  );
}

/**
 * @param {object} props
 * @param {List} props.list
 * @param {readonly Field[]} props.columns
 * @param {(names: string) => void} props.onChoose
 */
function ColumnChoice({ list, columns, onChoose }) {
  const shown = new Set(columns.map(({ name }) => name));
  /** @param {string} name */
  const toggled = (name) => {
    const names = shown.has(name)
      ? columns.filter((column) => column.name !== name).map((column) => column.name)
      : [...columns.map((column) => column.name), name];
    return names.join(',');
  };
  return h('details', { class: 'menu' }, [
    h('summary', { class: 'button' }, text('columns')),
    h(
      'div',
      { class: 'choices' },
      readable(list.fields).map(({ name }) =>
        h('label', { key: name }, [
          h('input', {
            type: 'checkbox',
            checked: shown.has(name),
            disabled: shown.size === 1 && shown.has(name),
            onChange: () => onChoose(toggled(name)),
          }),
          fieldLabel(name),
        ]),
      ),
    ),
  ]);
}

/**
 * @param {object} props
 * @param {Meta} props.meta
 * @param {(changes: Record<string, number>) => void} props.onShow
 */
function Pager({ meta, onShow }) {
  const { current_page: page, last_page: last, total, from, to, per_page: size } = meta;
  const numbers = Object.entries({ from: from ?? 0, to: to ?? 0, total });
  const range = Object.fromEntries(numbers.map(([name, count]) => [name, formatNumber(count, locale.value)]));
  const shownPage = useShown(String(page));
  /** @type {[Parameters<typeof text>[0], string, number, boolean][]} */
  const steps = [
    ['first_page', '«', 1, page > 1],
    ['previous_page', '‹', Math.min(page - 1, last), page > 1],
    ['next_page', '›', page + 1, page < last],
    ['last_page', '»', last, page !== last],
  ];
  return h('nav', { class: 'pager', 'aria-label': text('pages') }, [
    h('span', { role: 'status' }, text('range', range)),
    ...steps.map(([label, sign, number, isPossible]) =>
      h(
        'button',
        {
          key: label,
          type: 'button',
          disabled: !isPossible,
          'aria-label': text(label),
          onClick: () => onShow({ page: number }),
        },
        sign,
      ),
    ),
    h('label', {}, [
      h('span', { class: 'quiet' }, `${text('page')} `),
      h('input', {
        ref: shownPage,
        type: 'number',
        min: 1,
        max: last,
        onChange: (/** @type {Event} */ event) => onShow({ page: numberIn(event, last) }),
      }),
      h('span', { class: 'quiet' }, ` / ${formatNumber(last, locale.value)}`),
    ]),
    h('label', {}, [
      h('span', { class: 'quiet' }, `${text('rows_per_page')} `),
      h(
        'select',
        {
          value: size,
          onChange: (/** @type {Event} */ event) => onShow({ per_page: numberIn(event, 100) }),
        },
        [...new Set([25, 50, 100, size])].map((count) => h('option', { key: count, value: count }, count)),
      ),
    ]),
  ]);
}

/**
 * @param {object} props
 * @param {Readonly<Record<string, string>>} props.query
 * @param {string | null} props.next address of the next page
 * @param {(changes: Record<string, string | null>) => void} props.onShow
 */
function Onward({ query, next, onShow }) {
  const cursor = next && new URL(next, document.baseURI).searchParams.get('cursor');
  return h('nav', { class: 'pager', 'aria-label': text('pages') }, [
    h('button', { type: 'button', disabled: !query.cursor, onClick: () => onShow({}) }, text('first_page')),
    h('button', { type: 'button', disabled: !cursor, onClick: () => onShow({ cursor }) }, text('next_page')),
  ]);
}

/**
 * Return the reference of an input that shows a value of the address, also after it changed. What a
 * person writes meanwhile stays until then, and so does the focus.
 *
 * @param {string} value
 */
function useShown(value) {
  const input = useRef(/** @type {HTMLInputElement | null} */ (null));
  useEffect(() => {
    if (input.current) {
      input.current.value = value;
    }
  }, [value]);
  return input;
}

/**
 * Return the number that a person entered, within 1 and `most`.
 *
 * @param {Event} event
 * @param {number} most
 */
function numberIn({ currentTarget }, most) {
  const { value } = /** @type {HTMLInputElement | HTMLSelectElement} */ (currentTarget);
  return Math.min(Math.max(Math.trunc(Number(value)) || 1, 1), most);
}

/**
 * The map of a warehouse, with the stock of each position.
 *
 * The drawing is made once. Zoom and pan only move it, which the browser does without drawing again.
 */

import { calls, locale } from '../core/app.js';
import { href } from '../core/address.js';
import { formatNumber } from '../core/format.js';
import { cellsOf } from '../core/plan.js';
import { Refusal } from '../core/refusal.js';
import { useLoaded } from '../core/use.js';
import { text } from '../core/words.js';
import { useMemo, useState } from '../vendor/hooks.js';
import { h } from '../vendor/preact.js';
import { Floor, Movable } from './floor.js';
import { Lazy } from './lazy.js';
import { Notice } from './notice.js';

/**
 * @typedef {import('../core/plan.js').Place} Place
 * @typedef {{position: {bin_code: string} | null, qty: number, item_code: string,
 *   product_name: string | null}} StockRow
 */

/** Positions that the detail of a warehouse has; a list has the others. */
const IN_DETAIL = 2000;

/** Pages of stock, and of positions, that are read: more would use up the requests of a minute. */
const MOST_PAGES = 60;
const PER_PAGE = 100;

/** What else the drawing has: class of its color, and its words. */
const LEGEND = /** @type {const} */ ([
  ['zone', 'legend_area'],
  ['point', 'legend_point'],
  ['found', 'legend_found'],
]);

/**
 * @param {object} props
 * @param {Record<string, any>} props.resource warehouse with its first positions
 * @param {import('../core/subject.js').Interface} props.description
 */
export function WarehouseMap({ resource, description }) {
  const { id, whs_code: code } = resource;
  const layout = useLoaded(`layout ${id}`, async (signal) => {
    try {
      const { body, etag } = await calls.read('GET /warehouses/{id}/layout', { parameters: { id }, signal });
      return { map: /** @type {Record<string, any>} */ (body.data), etag };
    } catch (error) {
      if (error instanceof Refusal && error.status === 404) {
        return { map: null, etag: null };
      }
      throw error;
    }
  });
  const places = useLoaded(`positions ${id}`, async (signal) =>
    resource.positions.length < IN_DETAIL
      ? /** @type {Place[]} */ (resource.positions)
      : /** @type {Promise<Place[]>} */ (allRows('warehouse-positions', { warehouse_id: id }, signal)),
  );
  const stock = useLoaded(
    `stock ${id}`,
    (signal) => /** @type {Promise<StockRow[]>} */ (allRows('stocks', { warehouse: code, status: 'in' }, signal)),
  );
  if (layout.result === null) {
    return h(Notice, { error: layout.error, onRetry: layout.reload });
  }
  const { map, etag } = layout.result;
  const again = () => [places, stock].filter(({ error }) => error).forEach(({ reload }) => reload());
  const isCut = [places, stock].some(({ result }) => (result?.length ?? 0) >= MOST_PAGES * PER_PAGE);
  return h('section', {}, [
    h(Lazy, {
      load: () => import('./layout_file.js'),
      name: 'LayoutFile',
      props: {
        warehouse: { id, code },
        write: description.actions['PUT /warehouses/{id}/layout'],
        map,
        etag,
        places: places.result,
        onPublished: layout.reload,
      },
    }),
    h(Notice, { error: places.error ?? stock.error, onRetry: again }),
    isCut && h('p', { class: 'notice' }, text('map_cut', { count: MOST_PAGES * PER_PAGE })),
    map === null
      ? h('p', { class: 'quiet' }, text('no_map'))
      : h(Drawing, { layout: map, places: places.result ?? [], stock: stock.result, isCut }),
  ]);
}

/**
 * Read a list to its end.
 *
 * @param {string} name
 * @param {Record<string, string | number>} filter
 * @param {AbortSignal} signal
 * @returns {Promise<any[]>}
 */
async function allRows(name, filter, signal) {
  const operation = /** @type {'GET /products'} */ (`GET /${name}`);
  /** @type {any[]} */
  const rows = [];
  /** @type {Record<string, string | number>} */
  let query = { ...filter, per_page: PER_PAGE };
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const { body } = await calls.read(operation, { query, signal });
    rows.push(...body.data);
    const cursor = body.links.next && new URL(body.links.next).searchParams.get('cursor');
    if (!cursor) {
      break;
    }
    query = { ...filter, cursor };
  }
  return rows;
}

/**
 * @param {object} props
 * @param {Record<string, any>} props.layout
 * @param {readonly Place[]} props.places
 * @param {readonly StockRow[] | null} props.stock null while it is not known
 * @param {boolean} props.isCut whether there is more than was read
 */
function Drawing({ layout, places, stock, isCut }) {
  const [wanted, setWanted] = useState('');
  const [chosen, setChosen] = useState(/** @type {string | null} */ (null));
  const rows = useMemo(() => stockByPosition(stock ?? []), [stock]);
  const found = useMemo(() => matching(wanted, places, rows), [wanted, places, rows]);
  const cells = useMemo(() => cellsOf(layout.bays, places), [layout, places]);
  const picture = useMemo(
    () => h(Floor, { layout, cells, rows, found, onChoose: setChosen }),
    [layout, cells, rows, found],
  );
  const here = chosen === null ? [] : (rows.get(chosen) ?? []);
  return h('div', { class: 'map' }, [
    h('label', { class: 'field' }, [
      text('find_on_map'),
      h('input', {
        type: 'search',
        value: wanted,
        onInput: (/** @type {Event} */ event) =>
          setWanted(/** @type {HTMLInputElement} */ (event.currentTarget).value),
      }),
    ]),
    h('p', { role: 'status', class: 'quiet' }, wanted && text('found_positions', { count: found.size })),
    h(Movable, { width: layout.width_m, depth: layout.depth_m }, picture),
    h('p', { class: 'legend' }, [
      ...[0, 1, 2, 3, 4].map((step) => h('span', { key: step, class: `swatch fill-${step}` }, ' ')),
      text('legend'),
      ...LEGEND.map(([kind, label]) => [
        h('span', { class: `swatch ${kind}` }, ' '),
        text(label),
      ]),
    ]),
    found.size > 0 &&
      h(
        'ul',
        {},
        [...found].slice(0, 20).map((bin) =>
          h('li', { key: bin }, [
            h('button', { type: 'button', onClick: () => setChosen(bin) }, bin),
          ]),
        ),
      ),
    chosen !== null &&
      h('section', { 'aria-live': 'polite' }, [
        h('h3', {}, chosen),
        here.length === 0
          ? h('p', {}, stock === null || isCut ? text('not_set') : text('position_empty'))
          : h(
              'ul',
              {},
              here.map((row, at) =>
                h('li', { key: at }, [
                  h('a', { href: href(['stocks'], { item_code: row.item_code }) }, row.item_code),
                  ` ${row.product_name ?? ''}: ${formatNumber(row.qty, locale.value)}`,
                ]),
              ),
            ),
      ]),
  ]);
}

/**
 * @param {readonly StockRow[]} stock
 * @returns {Map<string, StockRow[]>} position → its rows
 */
function stockByPosition(stock) {
  /** @type {Map<string, StockRow[]>} */
  const rows = new Map();
  for (const row of stock) {
    const bin = row.position?.bin_code;
    if (bin !== undefined) {
      rows.set(bin, [...(rows.get(bin) ?? []), row]);
    }
  }
  return rows;
}

/**
 * Return the positions that a person looks for, by their code or by what lies there.
 *
 * @param {string} wanted
 * @param {readonly Place[]} places
 * @param {Map<string, StockRow[]>} rows
 * @returns {Set<string>}
 */
function matching(wanted, places, rows) {
  const sought = wanted.trim().toLowerCase();
  if (sought === '') {
    return new Set();
  }
  const isIn = (/** @type {string | null} */ name) => name?.toLowerCase().includes(sought) ?? false;
  const bins = places.map(({ bin_code: bin }) => bin);
  return new Set(
    bins.filter(
      (bin) => isIn(bin) || rows.get(bin)?.some((row) => isIn(row.item_code) || isIn(row.product_name)),
    ),
  );
}

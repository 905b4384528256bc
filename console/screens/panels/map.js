/**
 * The map of a warehouse, with the stock of each position.
 *
 * The drawing is made once. Zoom and pan only move it, which the browser does without drawing again.
 */

import { calls, locale } from '../../core/app.js';
import { href } from '../../core/address.js';
import { formatNumber } from '../../core/format.js';
import { cellsOf, fillOf } from '../../core/plan.js';
import { Refusal } from '../../core/refusal.js';
import { useLoaded } from '../../core/use.js';
import { subjectLabel, text } from '../../core/words.js';
import { useMemo, useRef, useState } from '../../vendor/hooks.js';
import { h } from '../../vendor/preact.js';
import { Notice } from '../../components/notice.js';

/**
 * @typedef {import('../../core/plan.js').Place} Place
 * @typedef {import('../../core/plan.js').Bay} Bay
 * @typedef {{position: {bin_code: string} | null, qty: number, item_code: string,
 *   product_name: string | null}} StockRow
 */

/** Positions that the detail of a warehouse has; a list has the others. */
const IN_DETAIL = 2000;

/** Pages of stock that are read: 100 rows each. */
const MOST_PAGES = 60;

/**
 * @param {object} props
 * @param {Record<string, any>} props.resource warehouse with its first positions
 */
export function Panel({ resource }) {
  const { id, whs_code: code } = resource;
  const layout = useLoaded(`layout ${id}`, async (signal) => {
    try {
      const { body } = await calls.read('GET /warehouses/{id}/layout', { parameters: { id }, signal });
      return /** @type {Record<string, any>} */ (body.data);
    } catch (error) {
      if (error instanceof Refusal && error.status === 404) {
        return {};
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
  if (layout.result.bays === undefined) {
    return h('p', { class: 'quiet' }, text('no_map'));
  }
  return h('section', {}, [
    h('h2', {}, subjectLabel('map')),
    h(Notice, { error: places.error ?? stock.error, onRetry: stock.reload }),
    h(Drawing, {
      layout: layout.result,
      places: places.result ?? [],
      stock: stock.result ?? [],
    }),
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
  let query = { ...filter, per_page: 100 };
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
 * @param {readonly StockRow[]} props.stock
 */
function Drawing({ layout, places, stock }) {
  const [wanted, setWanted] = useState('');
  const [chosen, setChosen] = useState(/** @type {string | null} */ (null));
  const rows = useMemo(() => stockByPosition(stock), [stock]);
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
          ? h('p', {}, text('position_empty'))
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

/**
 * The drawing, in metres; y grows upwards on the map and downwards on the screen.
 *
 * @param {object} props
 * @param {Record<string, any>} props.layout
 * @param {Map<Bay, import('../../core/plan.js').Cell[]>} props.cells
 * @param {Map<string, StockRow[]>} props.rows
 * @param {ReadonlySet<string>} props.found
 * @param {(bin: string) => void} props.onChoose
 */
function Floor({ layout, cells, rows, found, onChoose }) {
  const { width_m: width, depth_m: depth } = layout;
  const up = (/** @type {number} */ y) => depth - y;
  return h(
    'svg',
    {
      viewBox: `0 0 ${width} ${depth}`,
      role: 'img',
      'aria-label': subjectLabel('map'),
      onClick: (/** @type {Event} */ event) => {
        const bin = event.target instanceof Element && event.target.getAttribute('data-bin');
        if (bin) {
          onChoose(bin);
        }
      },
    },
    [
      h('rect', { class: 'floor', width, height: depth }),
      ...layout.zones.map((/** @type {any} */ zone) =>
        h('polygon', {
          key: `zone ${zone.code}`,
          class: 'zone',
          points: zone.polygon.map((/** @type {number[]} */ [x = 0, y = 0]) => `${x},${up(y)}`).join(' '),
        }),
      ),
      ...layout.bays.map((/** @type {Bay} */ bay, /** @type {number} */ at) =>
        h('g', { key: `bay ${at}`, transform: `rotate(${-bay.rotation} ${bay.x} ${up(bay.y)})` }, [
          h('rect', { class: 'bay', x: bay.x, y: up(bay.y + bay.d), width: bay.w, height: bay.d }),
          ...(cells.get(bay) ?? []).map((cell) => {
            const { bin_code: bin, capacity_units: capacity } = cell.place;
            const quantity = (rows.get(bin) ?? []).reduce((sum, row) => sum + row.qty, 0);
            return h(
              'rect',
              {
                key: bin,
                'data-bin': bin,
                class: `cell fill-${fillStep(quantity, capacity)}${found.has(bin) ? ' found' : ''}`,
                x: cell.x,
                y: up(cell.y + cell.d),
                width: cell.w,
                height: cell.d,
              },
              h('title', {}, `${bin}: ${formatNumber(quantity, locale.value)}`),
            );
          }),
        ]),
      ),
      ...layout.zones.map((/** @type {any} */ zone) =>
        h('text', { key: `name ${zone.code}`, ...corner(zone.polygon, up) }, zone.code),
      ),
      ...layout.points.map((/** @type {any} */ point) =>
        h('circle', { key: `point ${point.code}`, class: 'point', cx: point.x, cy: up(point.y), r: 0.3 }, [
          h('title', {}, `${point.code} ${point.kind ?? ''}`),
        ]),
      ),
    ],
  );
}

/**
 * Return the shade of a position: 0 empty, 1 to 4 by its fill, 2 if its capacity is not known.
 *
 * @param {number} quantity
 * @param {number | null} capacity
 */
function fillStep(quantity, capacity) {
  const fill = fillOf(quantity, capacity);
  if (quantity === 0) {
    return 0;
  }
  return fill === null ? 2 : Math.max(1, Math.ceil(fill * 4));
}

/**
 * @param {number[][]} polygon
 * @param {(y: number) => number} up
 */
function corner(polygon, up) {
  const top = Math.max(...polygon.map(([, y = 0]) => y));
  const left = Math.min(...polygon.map(([x = 0]) => x));
  return { x: left + 0.3, y: up(top) + 0.9 };
}

/**
 * Something that can be zoomed and moved with pointer, wheel, buttons and arrow keys.
 *
 * @param {object} props
 * @param {number} props.width
 * @param {number} props.depth
 * @param {import('../../vendor/preact.js').ComponentChildren} [props.children]
 */
function Movable({ width, depth, children }) {
  const moved = useRef(/** @type {HTMLDivElement | null} */ (null));
  const view = useRef({ x: 0, y: 0, zoom: 1 });
  /** @param {Partial<{x: number, y: number, zoom: number}>} changes */
  const show = (changes) => {
    view.current = { ...view.current, ...changes };
    const { x, y, zoom } = view.current;
    if (moved.current) {
      moved.current.style.transform = `translate(${x}px, ${y}px) scale(${zoom})`;
    }
  };
  /** @param {number} factor */
  const zoomBy = (factor) => show({ zoom: Math.min(20, Math.max(1, view.current.zoom * factor)) });
  /** @type {Record<string, () => void>} */
  const keys = {
    ArrowLeft: () => show({ x: view.current.x + 40 }),
    ArrowRight: () => show({ x: view.current.x - 40 }),
    ArrowUp: () => show({ y: view.current.y + 40 }),
    ArrowDown: () => show({ y: view.current.y - 40 }),
    '+': () => zoomBy(1.25),
    '-': () => zoomBy(0.8),
  };
  return h('div', {}, [
    h('div', { class: 'tools' }, [
      h('button', { type: 'button', 'aria-label': text('zoom_in'), onClick: () => zoomBy(1.5) }, '+'),
      h('button', { type: 'button', 'aria-label': text('zoom_out'), onClick: () => zoomBy(1 / 1.5) }, '−'),
      h('button', { type: 'button', onClick: () => show({ x: 0, y: 0, zoom: 1 }) }, text('whole_map')),
    ]),
    h(
      'div',
      {
        class: 'window',
        tabIndex: 0,
        role: 'application',
        'aria-label': text('map_help'),
        style: { aspectRatio: `${width} / ${depth}` },
        onKeyDown: (/** @type {KeyboardEvent} */ event) => {
          const move = keys[event.key];
          if (move) {
            event.preventDefault();
            move();
          }
        },
        onWheel: (/** @type {WheelEvent} */ event) => {
          event.preventDefault();
          zoomBy(event.deltaY < 0 ? 1.15 : 1 / 1.15);
        },
        onPointerMove: (/** @type {PointerEvent} */ event) => {
          if (event.buttons === 1) {
            show({ x: view.current.x + event.movementX, y: view.current.y + event.movementY });
          }
        },
      },
      h('div', { ref: moved, class: 'moved' }, children),
    ),
  ]);
}

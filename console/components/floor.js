/**
 * The floor of a warehouse, drawn from its map, and the window in which it is moved.
 */

import { locale } from '../core/app.js';
import { formatNumber } from '../core/format.js';
import { fillOf } from '../core/plan.js';
import { subjectLabel, text } from '../core/words.js';
import { useRef } from '../vendor/hooks.js';
import { h } from '../vendor/preact.js';

/** @typedef {import('../core/plan.js').Bay} Bay */

/**
 * The drawing, in metres; y grows upwards on the map and downwards on the screen.
 *
 * @param {object} props
 * @param {Record<string, any>} props.layout
 * @param {Map<Bay, import('../core/plan.js').Cell[]>} props.cells
 * @param {ReadonlyMap<string, readonly {qty: number}[]>} props.rows of stock, by position
 * @param {ReadonlySet<string>} props.found
 * @param {ReadonlySet<number>} [props.wrong] indexes of bays that the service refused
 * @param {(bin: string) => void} [props.onChoose]
 */
export function Floor({ layout, cells, rows, found, wrong = new Set(), onChoose }) {
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
          onChoose?.(bin);
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
          h('rect', { class: wrong.has(at) ? 'bay wrong' : 'bay', x: bay.x, y: up(bay.y + bay.d), width: bay.w, height: bay.d }),
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
 * @param {import('../vendor/preact.js').ComponentChildren} [props.children]
 */
export function Movable({ width, depth, children }) {
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

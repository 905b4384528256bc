/**
 * A QR code, drawn here: what it holds goes nowhere else.
 */

import { generate } from '../vendor/lean-qr.js';
import { h } from '../vendor/preact.js';

/** Modules of the empty border that a reader needs. */
const BORDER = 4;

/**
 * @param {object} props
 * @param {string} props.content
 * @param {string} props.label
 */
export function QrCode({ content, label }) {
  const code = generate(content);
  const side = code.size + 2 * BORDER;
  const rows = Array.from({ length: code.size }, (_, y) =>
    Array.from({ length: code.size }, (_, x) => (code.get(x, y) ? `M${x + BORDER} ${y + BORDER}h1v1h-1z` : '')),
  );
  return h('svg', { role: 'img', 'aria-label': label, viewBox: `0 0 ${side} ${side}`, width: 240, 'shape-rendering': 'crispEdges' }, [
    h('rect', { width: side, height: side, fill: '#fff' }),
    h('path', { d: rows.flat().join(''), fill: '#000' }),
  ]);
}

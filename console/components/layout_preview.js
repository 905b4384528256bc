/**
 * A map from a file before it is published: its picture, its counts, and what the service refuses.
 */

import { say } from '../core/app.js';
import { drawable } from '../core/map_draft.js';
import { cellsOf } from '../core/plan.js';
import { isStale, Refusal } from '../core/refusal.js';
import { actionLabel, fieldLabel, text } from '../core/words.js';
import { useMemo, useState } from '../vendor/hooks.js';
import { h } from '../vendor/preact.js';
import { Dialog } from './dialog.js';
import { Floor, Movable } from './floor.js';
import { useAction } from '../core/act.js';
import { Notice } from './notice.js';

/** @typedef {import('../core/plan.js').Place} Place */

const PUBLISH = 'PUT /warehouses/{id}/layout';

/**
 * @param {object} props
 * @param {{id: number, code: string}} props.warehouse
 * @param {unknown} props.draft content of the file
 * @param {string | null} props.etag
 * @param {readonly Place[]} props.places
 * @param {() => void} props.onClose
 * @param {() => void} props.onPublished
 */
export function LayoutPreview({ warehouse, draft, etag, places, onClose, onPublished }) {
  const action = useAction();
  const [seen] = useState(etag);
  const layout = useMemo(() => drawable(draft), [draft]);
  const cells = useMemo(() => cellsOf(layout?.bays ?? [], places), [layout, places]);
  const problems = action.error instanceof Refusal ? action.error.problems : [];
  const placed = [...cells.values()].reduce((sum, inside) => sum + inside.length, 0);
  const publish = async () => {
    const answer = await action.carryOut(PUBLISH, { id: warehouse.id }, draft, seen);
    if (answer !== null) {
      say(text('done', { action: actionLabel('put_warehouse_layout') }));
      onPublished();
    }
  };
  const fixed = action.isBusy || action.isOpen;
  const close = isStale(action.error) ? onPublished : onClose; // somebody else published another map
  return h(Dialog, { title: `${warehouse.code}: ${text('load_map')}`, onClose: close, isFixed: fixed }, [
    h(Notice, { error: action.error, isWrite: true, shownFields: problems.map(({ field }) => field) }),
    problems.length > 0 &&
      h(
        'ul',
        { class: 'problem' },
        problems.map(({ field, message }) =>
          h('li', { key: field }, [h('code', {}, field), `: ${message}`]),
        ),
      ),
    layout === null
      ? h('p', {}, text('no_picture'))
      : h('div', { class: 'map' }, [
          h(
            'p',
            { class: 'quiet' },
            /** @type {const} */ (['zones', 'aisles', 'bays', 'points'])
              .map((name) => `${fieldLabel(name)}: ${layout[name].length}`)
              .join(' · '),
          ),
          h('p', { class: 'quiet' }, text('positions_on_map', { count: placed, total: places.length })),
          h(
            Movable,
            { width: layout.width_m, depth: layout.depth_m },
            h(Floor, { layout, cells, rows: new Map(), found: new Set(), wrong: baysOf(problems) }),
          ),
        ]),
    h('footer', {}, [
      h('button', { type: 'button', disabled: fixed, onClick: close }, text('cancel')),
      h('button', { type: 'button', class: 'main', disabled: action.isBusy, onClick: publish }, [
        action.isOpen ? text('try_again') : actionLabel('put_warehouse_layout'),
      ]),
    ]),
  ]);
}

/**
 * Return the indexes of the bays that problems name, such as `bays.3.x`.
 *
 * @param {readonly import('../core/refusal.js').Problem[]} problems
 */
function baysOf(problems) {
  const found = problems.map(({ field }) => /^bays\.(\d+)/.exec(field)?.[1]);
  return new Set(found.filter((index) => index !== undefined).map(Number));
}

/**
 * Pick faces below their minimum, and the transfers that fill them.
 */

import { useAction } from '../core/act.js';
import { address, go, href } from '../core/address.js';
import { calls, permissions, say } from '../core/app.js';
import { mayCarryOut } from '../core/subject.js';
import { loadInterface, useLoaded } from '../core/use.js';
import { rememberWarehouse, usualWarehouse } from '../core/usual.js';
import { fieldLabel, subjectLabel, text } from '../core/words.js';
import { useMemo, useState } from '../vendor/hooks.js';
import { h } from '../vendor/preact.js';
import { signal } from '../vendor/signals-core.js';
import { choiceOf } from '../components/choice.js';
import { Notice } from '../components/notice.js';
import { Table } from '../components/table.js';
import { Title } from '../components/title.js';
import { plain } from '../components/value.js';

/** @typedef {import('../core/actions.js').Resource} Resource */

const LIST = '/replenishments';
const CREATE = 'POST /replenishments';
const COLUMNS = ['item_code', 'bin_code', 'qty', 'minimum', 'maximum', 'needed', 'proposals', 'transfer_id'];
const QTY = /** @type {const} */ ({ name: 'qty', type: 'number' });

export function Replenishments() {
  const { warehouse = '', after = '0' } = address.value.query;
  const places = useLoaded('warehouses', async (signal) => {
    const { body } = await calls.read('GET /warehouses', { query: { per_page: 100 }, signal });
    return { codes: body.data.map(({ whs_code: code }) => code), usual: await usualWarehouse(signal) };
  });
  const { codes = [], usual = null } = places.result ?? {};
  const chosen = warehouse || (usual ?? codes[0] ?? '');
  return h('section', {}, [
    h('header', { class: 'screen' }, h(Title, { title: subjectLabel('replenishments') })),
    h(Notice, { error: places.error, onRetry: places.reload }),
    h('div', { class: 'tools' }, [
      h('label', {}, [
        `${fieldLabel('warehouse')} `,
        h(
          'select',
          {
            value: chosen,
            onChange: (/** @type {Event} */ { currentTarget }) => {
              const { value } = /** @type {HTMLSelectElement} */ (currentTarget);
              rememberWarehouse(value);
              go(href(['replenishments'], { warehouse: value }));
            },
          },
          [...new Set([...codes, chosen])].filter(Boolean).map((code) => h('option', { key: code, value: code }, code)),
        ),
      ]),
    ]),
    chosen && h(PickFaces, { key: `${chosen} ${after}`, warehouse: chosen, after }),
  ]);
}

/**
 * @param {object} props
 * @param {string} props.warehouse code
 * @param {string} props.after pick face after which the page begins
 */
function PickFaces({ warehouse, after }) {
  const loaded = useLoaded(`replenishments ${warehouse} ${after}`, async (signal) => {
    const [description, { body }] = await Promise.all([
      loadInterface('replenishments'),
      calls.read('GET /replenishments', { query: { warehouse, after }, signal }),
    ]);
    return { description, page: body };
  });
  const action = useAction();
  const [asked, setAsked] = useState(/** @type {Record<string, unknown>} */ ({})); // in the last request
  const chosen = useMemo(() => signal(/** @type {ReadonlySet<unknown>} */ (new Set())), []);
  const [results, setResults] = useState(/** @type {ReadonlyMap<number, string>} */ (new Map()));
  if (loaded.result === null) {
    return h(Notice, { error: loaded.error, onRetry: loaded.reload });
  }
  const { description, page } = loaded.result;
  const mayCreate = mayCarryOut(description.actions[CREATE], permissions());
  const canFill = (/** @type {Resource} */ row) => mayCreate && row.proposals.length > 0;
  /**
   * Create transfers, with as many requests as that takes. A retry begins with the one that failed.
   *
   * @param {Record<string, unknown>} first body
   */
  const create = async (first) => {
    const found = new Map(results);
    let count = 0;
    let body = first;
    let isDone = false;
    while (!isDone) {
      setAsked(body);
      const answer = await action.carryOut(CREATE, {}, body);
      if (answer === null) {
        break;
      }
      const { created, unfilled, next_after: after } = answer.body.data;
      count += created.length;
      for (const { pick_face, qty } of created) {
        found.set(pick_face, text('transfer_created', { qty: plain(QTY, qty) }));
      }
      for (const { pick_face, needed } of unfilled) {
        const missing = text('not_enough_stock', { qty: plain(QTY, needed) });
        found.set(pick_face, [found.get(pick_face), missing].filter(Boolean).join(' · '));
      }
      body = { ...first, after };
      isDone = after === null;
    }
    setResults(found);
    if (isDone) {
      say(text('transfers_created', { count }));
      chosen.value = new Set();
    }
    loaded.reload();
  };
  const isLocked = action.isBusy || action.isOpen; // then only the same request may be sent again
  const fields = description.details[LIST]?.fields ?? [];
  const shown = COLUMNS.flatMap((name) => fields.find((one) => one.name === name) ?? []);
  const rows = page.data.map((row) => ({
    ...row,
    proposals: row.proposals.map(({ from_bin_code: bin, qty }) => `${bin}: ${plain(QTY, qty)}`).join(', '),
    result: results.get(row.pick_face) ?? null,
    canFill: canFill(row),
  }));
  return h('div', {}, [
    h(Notice, { error: loaded.error, onRetry: loaded.reload }),
    h(Notice, { error: action.error, isWrite: true, onRetry: () => create(asked) }),
    mayCreate &&
      h('div', { class: 'actions' }, [
        h(
          'button',
          {
            type: 'button',
            class: 'main',
            disabled: isLocked || !rows.some((one) => one.canFill),
            onClick: () => create({ warehouse_code: warehouse, all: true }),
          },
          text('create_all'),
        ),
        h(
          'button',
          {
            type: 'button',
            disabled: isLocked || chosen.value.size === 0,
            onClick: () => create({ warehouse_code: warehouse, pick_face_ids: [...chosen.value] }),
          },
          text('create_chosen', { count: chosen.value.size }),
        ),
      ]),
    rows.length === 0
      ? h('p', { class: 'quiet' }, text('nothing_below_minimum'))
      : h(Table, {
          caption: subjectLabel('replenishments'),
          columns: [
            ...shown.map((one) => (one.name === 'proposals' ? { ...one, type: /** @type {const} */ ('text') } : one)),
            ...(results.size > 0 ? [/** @type {const} */ ({ name: 'result', type: 'text' })] : []),
          ],
          rows,
          isLoading: loaded.isLoading,
          linkOf: ({ name }, row) =>
            name === 'transfer_id' && row.transfer_id !== null
              ? href(['transfers', String(row.transfer_id)])
              : name === 'bin_code'
                ? href(['pick-faces'], { bin_code: String(row.bin_code), warehouse })
                : undefined,
          choice: choiceOf({
            chosen,
            idOf: (row) => (row.canFill ? row.pick_face : undefined),
            nameOf: (row) => row.bin_code,
          }),
        }),
    page.links.next !== null &&
      h('nav', { class: 'pager', 'aria-label': text('pages') }, [
        h('a', { class: 'button', href: href(['replenishments'], { warehouse, after: page.meta.last }) }, text('next_page')),
      ]),
  ]);
}

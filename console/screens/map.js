/**
 * The maps of the warehouses, one at a time. The address has the id of the warehouse in `warehouse`.
 */

import { address, go, href } from '../core/address.js';
import { calls } from '../core/app.js';
import { loadInterface, useLoaded } from '../core/use.js';
import { subjectLabel, text, valueLabel } from '../core/words.js';
import { h } from '../vendor/preact.js';
import { Notice } from '../components/notice.js';
import { Title } from '../components/title.js';
import { WarehouseMap } from '../components/warehouse_map.js';

export function MapScreen() {
  const { warehouse } = address.value.query;
  const description = useLoaded('warehouses', () => loadInterface('warehouses'));
  const list = useLoaded('warehouses', async (signal) => {
    const { body } = await calls.read('GET /warehouses', { query: { per_page: 100 }, signal });
    return body.data;
  });
  const id = warehouse ?? list.result?.[0]?.id;
  const shown = useLoaded(`warehouse ${id}`, async (signal) => {
    if (id === undefined) {
      return null;
    }
    const { body } = await calls.read('GET /warehouses/{id}', { parameters: { id }, signal });
    return body.data;
  });
  const loaded = [description, list, shown];
  return h('section', {}, [
    h('header', { class: 'screen' }, [
      h(Title, { title: subjectLabel('map') }),
      h(
        'select',
        {
          'aria-label': valueLabel('warehouse'),
          value: String(id ?? ''),
          onChange: (/** @type {Event} */ event) => {
            const { value } = /** @type {HTMLSelectElement} */ (event.currentTarget);
            go(href(['map'], { warehouse: value }), { replace: true });
          },
        },
        (list.result ?? []).map((one) =>
          h('option', { key: one.id, value: String(one.id) }, `${one.whs_code} · ${one.name}`),
        ),
      ),
    ]),
    h(Notice, {
      error: loaded.map(({ error }) => error).find(Boolean),
      onRetry: () => loaded.forEach(({ reload }) => reload()),
    }),
    list.result?.length === 0 && h('p', {}, text('no_warehouse')),
    shown.result &&
      description.result &&
      h(WarehouseMap, { key: shown.result.id, resource: shown.result, description: description.result }),
  ]);
}

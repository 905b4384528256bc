/** Where received goods may go. It never keeps anybody from scanning another position. */

import { calls } from '../../core/app.js';
import { useLoaded } from '../../core/use.js';
import { h } from '../../vendor/preact.js';
import { say } from '../words.js';

/**
 * @param {object} props
 * @param {import('../store.js').Task} props.task
 * @param {import('../steps.js').Entry} props.entry
 * @param {(code: string) => void} props.onPlace
 */
export function Places({ task, entry, onPlace }) {
  const { product, qty, batch } = entry;
  const { result } = useLoaded(`${task.warehouse} ${product?.item_code} ${qty} ${batch}`, async (signal) => {
    const query = { warehouse: task.warehouse, item_code: product?.item_code, qty, batch };
    const { body } = await calls.read(/** @type {any} */ ('GET /putaway-suggestions'), { query, signal });
    return /** @type {any} */ (body).data;
  });
  return (
    result?.length > 0 &&
    h('div', { class: 'buttons', role: 'group', 'aria-label': say('suggested') }, [
      h('span', {}, say('suggested')),
      ...result.map((/** @type {any} */ one) =>
        h('button', { type: 'button', key: one.bin_code, onClick: () => onPlace(one.bin_code) }, one.bin_code),
      ),
    ])
  );
}

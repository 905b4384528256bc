/** The warehouse in which goods are moved by hand. */

import { go, href } from '../../core/address.js';
import { calls } from '../../core/app.js';
import { useLoaded } from '../../core/use.js';
import { useEffect } from '../../vendor/hooks.js';
import { h } from '../../vendor/preact.js';
import { Notice } from '../../components/notice.js';
import { MOVES } from '../kinds.js';
import { say } from '../words.js';
import { ScreenTitle } from './title.js';

export function Warehouses() {
  const { result, error, reload } = useLoaded('warehouses', async (signal) => {
    const { body } = await calls.read('GET /warehouses', { query: { per_page: 100 }, signal });
    return /** @type {any} */ (body).data;
  });
  const only = result?.length === 1 ? result[0].whs_code : null;
  useEffect(() => {
    if (only !== null) {
      go(href(['floor', MOVES, only]), { replace: true });
    }
  }, [only]);
  return h('section', {}, [
    h(ScreenTitle, { title: say('move') }),
    h(Notice, { error, onRetry: reload }),
    h(
      'ul',
      { class: 'cards' },
      (result ?? []).map((/** @type {any} */ one) =>
        h(
          'li',
          { key: one.id },
          h('a', { class: 'card', href: href(['floor', MOVES, one.whs_code]) }, [
            h('strong', {}, one.whs_code),
            h('span', {}, one.name),
          ]),
        ),
      ),
    ),
  ]);
}

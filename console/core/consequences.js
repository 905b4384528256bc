/**
 * What an action says before it is done: by its operation, else by the last part of its path.
 */

/** @typedef {import('./description.js').Action} Action */

const CONSEQUENCES = /** @type {const} */ ({
  cancel: 'confirm_cancel',
  close: 'confirm_close',
  revert: 'confirm_revert',
  delete: 'confirm_delete',
  'POST /handling-units/{id}/close': 'confirm_close_unit',
  'POST /imports/{id}/commit': 'confirm_commit_import',
  'POST /transfer-orders/{id}/close': 'confirm_close_transfer_order',
  'POST /transfer-orders/{id}/dispatch': 'confirm_dispatch_transfer_order',
  'POST /transfers/{id}/execute': 'confirm_execute_transfer',
  'POST /waves/{id}/close': 'confirm_close_wave',
  'POST /waves/{id}/complete': 'confirm_complete_wave',
  'POST /webhooks/{id}/deliveries/{delivery}/redeliver': 'confirm_redeliver',
  'POST /webhooks/{id}/test': 'confirm_test_webhook',
});

/** What becomes of the goods that an action leaves. */
const LOSSES = /** @type {const} */ ({
  close: 'loses_open',
  complete: 'loses_unpacked',
  dispatch: 'loses_unpicked',
  finalize: 'loses_missing',
  'finish-picking': 'loses_missing',
  post: 'posts_differences',
});

/**
 * Return the words of what an action does; undefined for one that needs none.
 *
 * @param {Action} action
 */
export function consequenceOf(action) {
  return wordsOf(CONSEQUENCES, action) ?? (action.endsWork ? 'confirm' : undefined);
}

/**
 * Return the words above the goods that an action leaves.
 *
 * @param {Action} action
 */
export function lossOf(action) {
  return wordsOf(LOSSES, action);
}

/**
 * @template {string} Key
 * @param {Readonly<Record<string, Key>>} table
 * @param {Action} action
 * @returns {Key | undefined}
 */
function wordsOf(table, { operation }) {
  const [method = '', path = ''] = operation.split(' ');
  return table[operation] ?? table[method === 'DELETE' ? 'delete' : (path.split('/').at(-1) ?? '')];
}

/**
 * The form that creates a resource. The address may have first values, such as `document_id=12`,
 * and in `as` another operation that makes some.
 */

import { permissions, say } from '../core/app.js';
import { address, go, goBack, href } from '../core/address.js';
import { bodyOf } from '../core/draft.js';
import { mayCarryOut } from '../core/subject.js';
import { loadInterface, useLoaded } from '../core/use.js';
import { actionLabel, errorLabel, text } from '../core/words.js';
import { useState } from '../vendor/hooks.js';
import { h } from '../vendor/preact.js';
import { Form, useAction } from '../components/form.js';
import { Lazy } from '../components/lazy.js';
import { Notice } from '../components/notice.js';
import { Secrets, secretsOf } from '../components/secrets.js';
import { Title } from '../components/title.js';

/** @typedef {import('../components/fields.js').Draft} Draft */

/**
 * @param {object} props
 * @param {import('../core/subject.js').Subject} props.subject
 */
export function NewScreen({ subject }) {
  const { as = '', ...first } = address.value.query;
  const operation = subject.more?.find((one) => one === as) ?? subject.create ?? '';
  const owner = operation.split('/')[1] ?? subject.name;
  const description = useLoaded(owner, () => loadInterface(owner));
  const action = useAction();
  const [secrets, setSecrets] = useState(/** @type {Record<string, string>} */ ({}));
  const write = description.result?.actions[operation];
  if (write === undefined) {
    return description.result === null
      ? h(Notice, { error: description.error, onRetry: description.reload })
      : h(Title, { title: text('not_found') });
  }
  if (!mayCarryOut(write, permissions())) {
    return h('section', {}, [
      h(Title, { title: actionLabel(write.name) }),
      h('p', { class: 'notice' }, errorLabel('forbidden')),
    ]);
  }
  const fields = write.body ?? [];
  const label = actionLabel(write.name);
  const back = href([subject.name]);
  /** @param {string} to */
  const leave = (to) => go(to, { replace: true });
  return h('section', {}, [
    h('header', { class: 'screen' }, h(Title, { title: label })),
    Object.keys(secrets).length > 0
      ? h(Secrets, { secrets, onClose: () => leave(back) })
      : h(Form, {
          fields,
          start: first,
          label: text('save'),
          action,
          noteOf: subject.sells ? sellableNote : undefined,
          onCancel: () => goBack(back),
          onSubmit: async (draft) => {
            const here = address.value;
            const answer = await action.carryOut(operation, {}, bodyOf(fields, draft));
            if (answer === null) {
              return;
            }
            const stale = staleLines(answer.body?.data?.lines);
            say(stale === '' ? text('done', { action: label }) : text('not_applied', { lines: stale }));
            const shown = secretsOf(answer.body?.data);
            if (Object.keys(shown).length > 0) {
              setSecrets(shown);
            } else if (address.value === here) {
              leave(detailOf(owner, description.result, answer.body?.data) ?? back);
            }
          },
        }),
  ]);
}

/**
 * Return the note at a line of an order that says what can be sold of its product.
 *
 * @param {Draft} line
 * @param {Draft} order
 */
function sellableNote({ item_code: itemCode = '' }, { warehouse_code: warehouse = '' }) {
  return h(Lazy, {
    load: () => import('../components/sellable.js'),
    name: 'SellableNote',
    props: { itemCode, warehouse },
  });
}

/**
 * Return the goods of the lines that were not applied, because their stock has changed.
 *
 * @param {readonly { status: string, item_code: string, bin_code: string }[]} [lines]
 */
function staleLines(lines = []) {
  return lines
    .filter(({ status }) => status === 'stale')
    .map(({ item_code: code, bin_code: bin }) => `${code} ${bin}`)
    .join(', ');
}

/**
 * @param {string} name
 * @param {import('../core/subject.js').Interface | null} description
 * @param {any} data
 */
function detailOf(name, description, data) {
  const hasDetail = description !== null && `/${name}/{id}` in description.details;
  return hasDetail && data?.id !== undefined ? href([name, data.id]) : null;
}

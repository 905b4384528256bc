/**
 * The form that creates a resource. The address may have first values, such as `document_id=12`,
 * and in `as` another operation that makes some.
 */

import { useAction } from '../core/act.js';
import { browser, calls, permissions, say, session } from '../core/app.js';
import { address, go, goBack, href } from '../core/address.js';
import { bodyOf, draftOf } from '../core/draft.js';
import { forgetDraft, keepDraft, keptDraft } from '../core/drafts.js';
import { usualField } from '../core/sources.js';
import { itemPath, mayCarryOut } from '../core/subject.js';
import { loadInterface, useLoaded } from '../core/use.js';
import { rememberWarehouse, usualWarehouse } from '../core/usual.js';
import { actionLabel, errorLabel, text } from '../core/words.js';
import { useMemo, useState } from '../vendor/hooks.js';
import { h } from '../vendor/preact.js';
import { Form } from '../components/form.js';
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
  const { as = '', from = '', ...first } = address.value.query;
  const operation = subject.more?.find((one) => one === as) ?? subject.create ?? '';
  const owner = operation.split('/')[1] ?? subject.name;
  const loaded = useLoaded(`${owner} ${operation} ${from}`, async (signal) => {
    const found = await loadInterface(owner);
    const asked = found.actions[operation]?.body ?? [];
    const place = usualField(operation, asked);
    const usual = place === undefined ? null : await usualWarehouse(signal);
    return {
      description: found,
      given: /** @type {Draft} */ (place === undefined || usual === null ? {} : { [place]: usual }),
      copy: from === '' ? {} : draftOf(asked, await copyOf(subject, from, signal)),
    };
  });
  const action = useAction();
  const [secrets, setSecrets] = useState(/** @type {Record<string, string>} */ ({}));
  const [round, setRound] = useState(0); // another form begins
  const user = session.owner;
  const form = `${operation} ${JSON.stringify({ ...first, ...(from && { from }) })}`;
  const kept = useMemo(() => keptDraft(browser.storage, user, form), [form, round]);
  const { description = null, given = {}, copy = {} } = loaded.result ?? {};
  const write = description?.actions[operation];
  if (write === undefined) {
    return description === null
      ? h(Notice, { error: loaded.error, onRetry: loaded.reload })
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
  const begins = draftOf(fields, operation === subject.create ? (subject.begins?.() ?? {}) : {});
  const forget = () => forgetDraft(browser.storage, user, form);
  /** @param {string} to */
  const leave = (to) => go(to, { replace: true });
  const hasSecrets = Object.keys(secrets).length > 0;
  const clear = () => {
    forget();
    setRound(round + 1);
  };
  return h('section', {}, [
    h('header', { class: 'screen' }, h(Title, { title: label })),
    kept &&
      !hasSecrets &&
      h('p', { class: 'quiet' }, [
        `${text('draft_kept')} `,
        h('button', { type: 'button', onClick: clear }, text('clear')),
      ]),
    hasSecrets
      ? h(Secrets, { secrets, onClose: () => leave(back) })
      : h(Form, {
          key: `${form} ${round}`,
          fields,
          start: { ...given, ...begins, ...copy, ...first, ...kept },
          onWrite: (draft) => keepDraft(browser.storage, user, form, draft),
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
            forget();
            const warehouse = draft[usualField(operation, fields) ?? ''];
            if (typeof warehouse === 'string' && warehouse !== '') {
              rememberWarehouse(warehouse);
            }
            const stale = staleLines(answer.body?.data?.lines);
            say(stale === '' ? text('done', { action: label }) : text('not_applied', { lines: stale }));
            const shown = secretsOf(answer.body?.data);
            if (Object.keys(shown).length > 0) {
              setSecrets(shown);
            } else if (address.value === here) {
              leave(detailOf(owner, description, answer.body?.data) ?? back);
            }
          },
        }),
  ]);
}

/**
 * Read what the form of something new has of another one.
 *
 * @param {import('../core/subject.js').Subject} subject
 * @param {string} id
 * @param {AbortSignal} signal
 */
async function copyOf(subject, id, signal) {
  const operation = /** @type {'GET /products/{id}'} */ (`GET ${itemPath(subject)}`);
  const { body } = await calls.read(operation, { parameters: { id }, signal });
  return subject.copies?.(body.data) ?? {};
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

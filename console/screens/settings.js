/**
 * The settings of the company.
 */

import { calls, say } from '../core/app.js';
import { changesOf, draftOf } from '../core/draft.js';
import { loadInterface, useLoaded } from '../core/use.js';
import { fieldLabel, subjectLabel, text } from '../core/words.js';
import { timeZone } from '../core/zone.js';
import { h } from '../vendor/preact.js';
import { Form, useAction } from '../components/form.js';
import { Notice } from '../components/notice.js';
import { plain } from '../components/value.js';

const CHANGE = 'PATCH /settings';

export function Settings() {
  const description = useLoaded('settings', () => loadInterface('settings'));
  const loaded = useLoaded('/settings', async (signal) => calls.read('GET /settings', { signal }));
  const action = useAction();
  const write = description.result?.actions[CHANGE];
  const shown = description.result?.details['/settings']?.fields ?? [];
  if (loaded.result === null || write === undefined) {
    return h(Notice, { error: loaded.error ?? description.error, onRetry: loaded.reload });
  }
  const { body, etag } = loaded.result;
  const settings = /** @type {Record<string, unknown>} */ (/** @type {unknown} */ (body.data));
  const fields = write.body ?? [];
  const start = draftOf(fields, settings);
  const fixed = shown.filter(({ name }) => !fields.some((field) => field.name === name));
  return h('section', {}, [
    h('header', { class: 'screen' }, h('h1', {}, subjectLabel('settings'))),
    h(
      'dl',
      {},
      fixed.map((field) =>
        h('div', { key: field.name }, [
          h('dt', {}, fieldLabel(field.name)),
          h('dd', {}, described(field, settings[field.name])),
        ]),
      ),
    ),
    h(Form, {
      key: etag ?? '',
      fields,
      start,
      label: text('save'),
      action,
      onCancel: () => history.back(),
      onSubmit: async (draft) => {
        const answer = await action.carryOut(CHANGE, {}, changesOf(fields, start, draft), etag);
        if (answer !== null) {
          say(text('done', { action: text('change') }));
          timeZone.value = answer.body.data.timezone;
          loaded.reload();
        }
      },
    }),
  ]);
}

/**
 * @param {import('../core/subject.js').Field} field
 * @param {unknown} value
 */
function described(field, value) {
  if (field.type !== 'object' || value === null) {
    return plain(field, value);
  }
  const parts = /** @type {Record<string, unknown>} */ (value);
  return h(
    'ul',
    { class: 'parts' },
    (field.fields ?? []).map((part) =>
      h('li', { key: part.name }, `${fieldLabel(part.name)}: ${plain(part, parts[part.name])}`),
    ),
  );
}

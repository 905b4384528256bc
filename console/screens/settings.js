/**
 * The settings of the company.
 */

import { goBack, href } from '../core/address.js';
import { calls } from '../core/app.js';
import { loadInterface, useLoaded } from '../core/use.js';
import { SETTING_GROUPS } from '../core/setting_groups.js';
import { subjectLabel, text } from '../core/words.js';
import { timeZone } from '../core/zone.js';
import { h } from '../vendor/preact.js';
import { ChangeForm } from '../components/change.js';
import { useAction } from '../core/act.js';
import { Notice } from '../components/notice.js';
import { Definitions } from '../components/definitions.js';
import { Title } from '../components/title.js';

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
  const fixed = shown.filter(({ name }) => !fields.some((field) => field.name === name));
  return h('section', {}, [
    h('header', { class: 'screen' }, h(Title, { title: subjectLabel('settings') })),
    h(Definitions, { fields: fixed, values: settings }),
    h(ChangeForm, {
      operation: CHANGE,
      fields,
      resource: settings,
      etag,
      label: text('change'),
      groups: SETTING_GROUPS,
      action,
      onStale: loaded.reload,
      onCancel: () => goBack(href([])),
      onDone: ({ body: { data } }) => {
        timeZone.value = data.timezone;
        loaded.reload();
      },
    }),
  ]);
}

/**
 * The resources of another subject, each of which leads to the list about it.
 */

import { calls } from '../core/app.js';
import { href } from '../core/address.js';
import { listPath } from '../core/subject.js';
import { useLoaded } from '../core/use.js';
import { subjectLabel, text } from '../core/words.js';
import { SUBJECT } from '../subjects.js';
import { h } from '../vendor/preact.js';
import { Notice } from './notice.js';
import { Title } from './title.js';

/** @typedef {import('../core/subject.js').Subject} Subject */

/**
 * @param {object} props
 * @param {Subject & Required<Pick<Subject, 'about'>>} props.subject
 */
export function ListOf({ subject: { name, about } }) {
  const other = /** @type {Subject} */ (SUBJECT.get(about.subject));
  const { result, error, isLoading, reload } = useLoaded(about.subject, async (signal) => {
    const operation = /** @type {'GET /products'} */ (`GET ${listPath(other)}`);
    const { body } = await calls.read(operation, { query: { per_page: 100 }, signal });
    return /** @type {Record<string, any>[]} */ (/** @type {unknown} */ (body.data));
  });
  return h('section', {}, [
    h('header', { class: 'screen' }, h(Title, { title: subjectLabel(name) })),
    h(Notice, { error, onRetry: reload }),
    h('h2', {}, subjectLabel(about.subject)),
    result?.length
      ? h(
          'ul',
          {},
          result.map((row) =>
            h('li', { key: row.id }, h('a', { href: href([name], { [about.filter]: row.id }) }, row[other.title])),
          ),
        )
      : !error && h('p', { class: 'quiet' }, text(isLoading ? 'loading' : 'nothing_there')),
  ]);
}

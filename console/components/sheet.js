/**
 * A list of lines on paper, with room to write.
 */

import { calls, locale } from '../core/app.js';
import { formatInstant } from '../core/format.js';
import { printScreen } from '../core/print.js';
import { useLoaded } from '../core/use.js';
import { actionLabel, fieldLabel } from '../core/words.js';
import { useEffect } from '../vendor/hooks.js';
import { h } from '../vendor/preact.js';
import { plain } from './value.js';

/**
 * @typedef {import('../core/subject.js').Field} Field
 * @typedef {import('../core/actions.js').Resource} Resource
 */

const NAME = 'product_name';

/**
 * Print the sheet of a resource.
 *
 * @param {object} props
 * @param {string} props.title name of the resource
 * @param {string} props.subject name of its subject
 * @param {Resource} props.resource
 * @param {import('../core/subject.js').Sheet} props.sheet
 * @param {{columns: readonly Field[], rows: readonly Resource[]}} props.table the lines
 * @param {() => void} props.onDone
 */
export function Sheet({ title, subject, resource, sheet, table, onDone }) {
  const { result, error } = useLoaded(`sheet ${title}`, async (signal) => {
    const operation = /** @type {'GET /counts/{id}/goods'} */ (`GET /${subject}/{id}/goods`);
    const { body } = await calls.read(operation, { parameters: { id: resource.id }, signal });
    return {
      names: new Map(body.data.products.map(({ item_code: code, name }) => [code, name])),
      places: new Map(body.data.positions.map(({ bin_code: code, pick_sequence: place }) => [code, place])),
    };
  });
  const isReady = result !== null || error !== null;
  useEffect(() => {
    if (isReady) {
      addEventListener('afterprint', onDone, { once: true });
      printScreen();
    }
    return () => removeEventListener('afterprint', onDone);
  }, [isReady]);
  const placeOf = (/** @type {Resource} */ { bin_code: code }) => result?.places.get(code) ?? Infinity;
  const rows = [...table.rows].sort((one, other) => placeOf(one) - placeOf(other) || 0); // NaN is equal
  const fields = sheet.columns.map(
    (name) => table.columns.find((one) => one.name === name) ?? /** @type {Field} */ ({ name, type: 'text' }),
  );
  return h('section', { class: 'sheet' }, [
    h('h1', {}, `${actionLabel(sheet.label)} ${title}`),
    h('p', {}, [resource.warehouse_code, formatInstant(new Date().toISOString(), locale.value)].filter(Boolean).join(' · ')),
    h('table', {}, [
      h('thead', {}, h('tr', {}, [...sheet.columns, ...sheet.blanks].map((name) => h('th', { key: name }, fieldLabel(name))))),
      h(
        'tbody',
        {},
        rows.map((row, at) =>
          h('tr', { key: at }, [
            ...fields.map((field) =>
              h('td', { key: field.name, class: field.name === NAME ? 'text' : undefined }, plain(field, row[field.name] ?? (field.name === NAME ? result?.names.get(row.item_code) : null))),
            ),
            ...sheet.blanks.map((name) => h('td', { key: name, class: 'blank' })),
          ]),
        ),
      ),
    ]),
  ]);
}

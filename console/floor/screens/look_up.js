/** What a scan names, what lies there, and where it lies. */

import { go, href } from '../../core/address.js';
import { calls, CONSOLE, isPermitted } from '../../core/app.js';
import { useLoaded } from '../../core/use.js';
import { fieldLabel, subjectLabel, valueLabel } from '../../core/words.js';
import { useEffect } from '../../vendor/hooks.js';
import { h } from '../../vendor/preact.js';
import { Notice } from '../../components/notice.js';
import { readLabel } from '../goods.js';
import { lookUp } from '../look_up.js';
import { numberText } from '../names.js';
import { namedTasks, referenceOf } from '../task_rows.js';
import { right, useScans, wrong } from '../scanning.js';
import { today } from '../state.js';
import { say } from '../words.js';
import { ScanField } from './scan_field.js';
import { ScreenTitle } from './title.js';

/** Most characters of the number or reference of a document. */
const LONGEST = 64;

/** Most rows of stock that are shown. */
const ROWS = 50;

/**
 * @param {object} props
 * @param {string} props.text of the scan
 */
export function LookUp({ text }) {
  const { result, error, isLoading, reload } = useLoaded(`look up ${text}`, () => found(text));
  useScans((scan) => {
    const next = scan.trim().slice(0, 200);
    return next === text ? reload() : go(href(['floor', 'look-up', next]), { replace: true });
  });
  useEffect(() => {
    if (result !== null && text !== '') {
      const { products, places, units, tasks } = result;
      const [task, ...others] = [...tasks, ...products, ...places, ...units];
      const isKnown = task !== undefined;
      (isKnown ? right : wrong)(isKnown ? text : say('unknown_code', { code: text.slice(0, 60) }));
      if (tasks.length === 1 && others.length === 0) {
        go(href(['floor', task.kind, String(task.id)]), { replace: true });
      }
    }
  }, [result]);
  return h('section', {}, [
    h(ScreenTitle, { title: say('look_up') }),
    h(ScanField, { label: say('scan_anything') }),
    h(Notice, { error, onRetry: reload }),
    isLoading && text !== '' && h('p', { class: 'quiet' }, say('looking')),
    result?.tasks.map((task) =>
      h('a', { key: task.id, class: 'card', href: href(['floor', task.kind, String(task.id)]) }, [
        h('strong', {}, `${subjectLabel(task.kind)} ${task.code ?? task.id}`),
        h('span', { class: 'quiet' }, [task.document?.doc_num, referenceOf(task)].filter(Boolean).join(' · ')),
      ]),
    ),
    result?.products.map(({ item_code, name }) => h('h2', { key: item_code }, `${item_code}: ${name}`)),
    result?.places.map((code) => h('h2', { key: code }, code)),
    result?.units.map((unit) =>
      h('div', { key: unit.id }, [
        h('strong', {}, `${subjectLabel('handling-units')} ${unit.code}`),
        ` ${valueLabel(unit.status, 'status')} · `,
        h('a', { href: `${CONSOLE}handling-units/${unit.id}`, target: '_blank' }, say('console')),
        h('ul', {}, unit.contents.map((/** @type {any} */ one) => h('li', {}, contentText(one)))),
      ]),
    ),
    result && result.stock.length > 0 && h(Stock, { rows: result.stock }),
  ]);
}

/** @param {any} content of a handling unit */
const contentText = ({ item_code, qty, batch_num, serial_numbers = [] }) =>
  [`${numberText(qty)} × ${item_code}`, batch_num, ...serial_numbers].filter(Boolean).join(', ');

/**
 * @param {string} text
 */
async function found(text) {
  if (text === '') {
    return { products: [], places: [], units: [], stock: [], tasks: [] };
  }
  const read = readLabel(text, today());
  const isWorker = (/** @type {import('../kinds.js').TaskKind} */ kind) => kind.permissions.some(isPermitted);
  const [{ products, positions, units }, tasks] = await Promise.all([
    lookUp(calls, read, null),
    read.text === undefined || text.length > LONGEST ? [] : namedTasks(calls, text, isWorker),
  ]);
  const places = Object.keys(positions);
  const queries = [
    ...products.map(({ item_code }) => ({ item_code })),
    ...places.map((bin_code) => ({ bin_code })),
  ];
  const pages = await Promise.all(
    queries.map((query) =>
      calls.read('GET /stocks', { query: { ...query, status: 'in', per_page: ROWS } }),
    ),
  );
  const stock = pages.flatMap(({ body }) => /** @type {any[]} */ (body.data));
  return { products, places, units, stock, tasks };
}

/**
 * @param {object} props
 * @param {readonly any[]} props.rows
 */
function Stock({ rows }) {
  const fields = ['position', 'item_code', 'qty', 'batch_num', 'inventory_status'];
  return h('table', {}, [
    h('thead', {}, h('tr', {}, fields.map((name) => h('th', { key: name, scope: 'col' }, fieldLabel(name))))),
    h(
      'tbody',
      {},
      rows.map((row) =>
        h('tr', { key: row.id }, [
          h('td', {}, row.position?.bin_code ?? row.whs_code),
          h('td', {}, row.item_code),
          h('td', {}, numberText(row.qty)),
          h('td', {}, row.batch_num ?? row.serial_number ?? ''),
          h('td', {}, valueLabel(row.inventory_status, 'inventory_status')),
        ]),
      ),
    ),
  ]);
}

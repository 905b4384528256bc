/** The tasks: those on the device, those of the person, and those that are free. */

import { go, href } from '../../core/address.js';
import { calls, isPermitted } from '../../core/app.js';
import { useLoaded } from '../../core/use.js';
import { fieldLabel, subjectLabel, valueLabel } from '../../core/words.js';
import { useEffect, useState } from '../../vendor/hooks.js';
import { h } from '../../vendor/preact.js';
import { Notice } from '../../components/notice.js';
import { KINDS, MOVES } from '../kinds.js';
import { dayText, taskName } from '../names.js';
import { useScans } from '../scanning.js';
import { forgetEnded, outcome, scans, tasks, worker } from '../state.js';
import { codesOf, holderOf, readTasks, referenceOf } from '../task_rows.js';
import { say } from '../words.js';
import { ScanField } from './scan_field.js';
import { ScreenTitle } from './title.js';

/**
 * @typedef {object} Row
 * @property {string} id of the task
 * @property {'mine' | 'free' | 'others'} whose
 * @property {string} kind
 * @property {string} name
 * @property {string} detail
 * @property {string[]} codes that a scan may name it by
 */

/** Milliseconds between two looks for new tasks, for each page of them. */
const INTERVAL = 30_000;

export function TaskList() {
  const user = worker.value;
  const kinds = KINDS.filter((kind) => kind.filter && kind.permissions.some(isPermitted));
  const [pages, setPages] = useState(1);
  const { result, error, reload } = useLoaded(`tasks ${outcome.value === 'unanswered'} ${pages}`, (signal) =>
    Promise.all(kinds.map((kind) => readTasks(calls, kind, pages, signal))),
  );
  useEffect(() => {
    const timer = setInterval(() => document.visibilityState === 'visible' && reload(), INTERVAL * pages);
    return () => clearInterval(timer);
  }, [pages]);
  const hasEnded = scans.value.some(({ isEnd, status }) => isEnd && status === 'done');
  useEffect(() => {
    void (hasEnded && forgetEnded().catch(reportError));
  }, [hasEnded]);
  const found = result?.flatMap((one) => one.rows) ?? [];
  const rows = found.map((row) => described(row, user?.userId ?? ''));
  const kept = tasks.value.map(({ id }) => id);
  useScans((text) => {
    const code = text.trim().toUpperCase();
    const found = rows.find(({ codes }) => codes.includes(code));
    go(href(['floor', ...(found ? found.id.split('/') : ['look-up', text.trim().slice(0, 200)])]));
  });
  return h('section', {}, [
    h(ScreenTitle, { title: say('tasks') }),
    h(ScanField, { label: say('scan_anything') }),
    h('p', { class: 'buttons' }, [
      isPermitted('inventory.manage') &&
        h('a', { class: 'button', href: href(['floor', MOVES, 'choose']) }, say('move')),
      h('a', { class: 'button', href: href(['floor', 'look-up', '']) }, say('look_up')),
    ]),
    h(Group, {
      title: say('on_device'),
      rows: kept.map((id) => {
        const count = scans.value.filter(({ task, status }) => task === id && status !== 'done').length;
        const detail = count > 0 ? say('waiting', { count }) : '';
        /** @type {Row} */
        const unread = { id, kind: '', name: taskName(id), detail, codes: [], whose: 'mine' };
        return rows.find((row) => row.id === id) ?? unread;
      }),
    }),
    h(Notice, { error, onRetry: reload }),
    .../** @type {const} */ (['mine', 'free', 'others']).map((whose) =>
      h(Group, {
        key: whose,
        title: say(`tasks_${whose}`),
        rows: rows.filter((row) => row.whose === whose && !kept.includes(row.id)),
      }),
    ),
    result?.some(({ isMore }) => isMore) &&
      h('button', { type: 'button', onClick: () => setPages(pages + 1) }, say('more_tasks')),
  ]);
}

/**
 * @param {object} props
 * @param {string} props.title
 * @param {readonly Row[]} props.rows
 */
function Group({ title, rows }) {
  return (
    rows.length > 0 &&
    h('section', {}, [
      h('h2', {}, title),
      h(
        'ul',
        { class: 'cards' },
        rows.map((row) =>
          h(
            'li',
            { key: row.id },
            h('a', { class: 'card', href: href(['floor', ...row.id.split('/')]) }, [
              h('strong', {}, row.name),
              row.detail && h('span', { class: 'quiet' }, row.detail),
            ]),
          ),
        ),
      ),
    ])
  );
}

/**
 * @param {any} row
 * @param {string} userId
 * @returns {Row}
 */
function described(row, userId) {
  const { kind, id, code, status, document } = row;
  const holder = holderOf(row);
  const whose = holder === null ? 'free' : String(holder.id) === userId ? 'mine' : 'others';
  const due = row.due_date ?? row.due_at;
  const detail = [
    valueLabel(status, 'status'),
    document?.doc_num,
    referenceOf(row),
    document?.card_name ?? document?.card_code,
    row.priority === 1 && say('urgent'),
    due && `${fieldLabel(row.due_date ? 'due_date' : 'due_at')}: ${dayText(due)}`,
    row.wave_id && `${fieldLabel('wave_id')} ${row.wave_id}`,
    whose === 'others' && holder?.name,
  ];
  const name = `${subjectLabel(kind)} ${code ?? id}`;
  return { id: `${kind}/${id}`, whose, kind, name, detail: detail.filter(Boolean).join(' · '), codes: codesOf(row) };
}

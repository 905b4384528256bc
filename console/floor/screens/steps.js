/** The steps of a task: one question at a time. */

import { fieldLabel } from '../../core/words.js';
import { useEffect, useRef, useState } from '../../vendor/hooks.js';
import { h } from '../../vendor/preact.js';
import { Lazy } from '../../components/lazy.js';
import { soundWrong } from '../feedback.js';
import { qtyOf } from '../goods.js';
import { kindOf } from '../kinds.js';
import { decimalSign, entryText, numberText } from '../names.js';
import { inTurn, right, useScans, wrong } from '../scanning.js';
import { announcedDate, candidates, nextAsk, openQty } from '../steps.js';
import { say } from '../words.js';
import {
  endOf, entryAfter, isCounted, isTaken, linesOf, presetQty, recordEntry, recordNothing, taskOf, uncountedAt,
} from '../work.js';
import { ScanField } from './scan_field.js';
import { Undo } from './undo.js';

/**
 * @typedef {import('../steps.js').Entry} Entry
 * @typedef {import('../steps.js').Line} Line
 * @typedef {import('../store.js').Task} Task
 */

/** What can be scanned while something else is asked. */
const SCANNED = /** @type {const} */ ({ qty: 'scan_more', expires: 'scan_expiry' });

/** From this quantity on, a person may have scanned into the field, which is asked. */
const IMPLAUSIBLE = 10_000;

/** @param {Line} line */
const nameOf = ({ item_code, position, batch, serials }) => JSON.stringify([item_code, position, batch, serials]);

/**
 * @param {object} props
 * @param {Task} props.task
 */
export function Steps({ task }) {
  const kind = kindOf(task.id);
  // Scans may come faster than the screen is drawn: they go by what is current, not by what is shown.
  const current = useRef(/** @type {Entry} */ ({}));
  const [, draw] = useState(0);
  const entry = current.current;
  /** @param {Entry} next */
  const setEntry = (next) => {
    current.current = next;
    draw((before) => before + 1);
  };
  const [skipped, setSkipped] = useState(/** @type {readonly string[]} */ ([]));
  const [isEnding, setEnding] = useState(false);
  const [isGoingOn, setGoingOn] = useState(false);
  const isSkipped = (/** @type {Line} */ line) => skipped.includes(nameOf(line));
  const inTheirOrder = (/** @type {readonly Line[]} */ every) => [
    ...every.filter((line) => !isSkipped(line)),
    ...every.filter(isSkipped),
  ];
  const lines = inTheirOrder(linesOf(task));
  const open = lines.filter(({ qty, done }) => done < qty);
  const ask = nextAsk(kind, entry);
  const [line] = candidates(lines, entry);
  const isDone = lines.length > 0 && open.length === 0;
  const isLeft = open.length > 0 && open.every(isSkipped);
  const isEndShown = isEnding || endOf(task) !== undefined || isLeft || (isDone && !isGoingOn);
  const missing = uncountedAt(task, lines, entry.position);
  const isFirst = missing.length === lines.filter(({ position }) => position === entry.position).length;

  /** @param {Entry} next */
  const proceed = async (next) => {
    setEntry(nextAsk(kind, next) === null ? await recordEntry(task, next) : next);
  };

  /**
   * Do what somebody pressed, after the scans that came before it, if it is still what the screen shows:
   * a second tap, or one that a scan overtook, is for nothing.
   *
   * @param {() => unknown} act
   */
  const press = (act) => inTurn(() => current.current === entry && act());
  /** @param {Entry} given what somebody typed or chose */
  const answer = (given) => press(() => proceed({ ...entry, ...given }));

  const isGone = isTaken(task, lines, entry);
  useEffect(() => {
    if (isGone) {
      press(() => {
        const latest = taskOf(task.id) ?? task;
        if (isTaken(latest, linesOf(latest), entry)) {
          setEntry({});
          wrong(say('taken_meanwhile', { goods: entryText(entry) }));
        }
      });
    }
  }, [isGone]);

  useScans(async (text) => {
    if (isEndShown) {
      soundWrong();
      return;
    }
    const latest = taskOf(task.id) ?? task;
    const next = await entryAfter(latest, inTheirOrder(linesOf(latest)), current.current, text);
    if (typeof next === 'string') {
      wrong(next);
      return;
    }
    await proceed(next);
    right(entryText({ qty: next.scanned ?? 1, ...next })); // it is kept
  });

  if (isEndShown) {
    const onBack = () => {
      setEnding(false);
      setSkipped([]);
      setGoingOn(true);
    };
    return h(Lazy, {
      load: () => import('./end.js'),
      name: 'End',
      props: { task, open, isDone, onBack }, // also when all is done: to close a unit, to count more
    });
  }
  return [
    h(Progress, { lines, isBlind: kind.isBlind ?? false }),
    line && h(Now, { line, entry, kind, task }),
    ask === 'qty'
      ? h(Quantity, {
          key: `${entry.product?.item_code} ${entry.scanned}`,
          preset: presetQty(kind, lines, entry),
          open: kind.isBound ? openQty(lines, entry) : null,
          mayBeZero: kind.isBlind ?? false,
          mayExceed: kind.name === 'receipts',
          isCounted: (kind.isBlind ?? false) && isCounted(task, lines, entry),
          onQty: (qty) => answer({ qty }),
        })
      : ask === 'expires' && h(Expiry, { preset: announcedDate(lines, entry), onDate: (expires) => answer({ expires }) }),
    h(ScanField, { label: say(SCANNED[/** @type {keyof typeof SCANNED} */ (ask)] ?? `ask_${ask}`) }),
    (ask === 'unit' || entry.unit !== undefined) &&
      h(Lazy, {
        load: () => import('./units.js'),
        name: 'Units',
        props: {
          task,
          unit: entry.unit,
          onUnit: (/** @type {string} */ unit) => answer({ unit }),
          onClosed: () => setEntry({}),
        },
      }),
    ask === 'target' &&
      h(Lazy, {
        load: () => import('./places.js'),
        name: 'Places',
        props: { task, entry, onPlace: (/** @type {string} */ target) => answer({ target }) },
      }),
    h('div', { class: 'buttons' }, [
      kind.asks.includes('target') && !kind.asks.includes('position') && // goods that arrive
        h(
          'button',
          {
            type: 'button',
            'aria-pressed': entry.isDamaged ?? false,
            onClick: () => press(() => setEntry({ ...entry, isDamaged: !entry.isDamaged })),
          },
          say('damaged'),
        ),
      kind.isBlind &&
        ask === 'product' &&
        missing.length > 0 &&
        h(
          'button',
          {
            type: 'button',
            onClick: () => press(async () => {
              await recordNothing(task, entry.position ?? '');
              setEntry({});
            }),
          },
          say(isFirst ? 'nothing_here' : 'nothing_else_here'),
        ),
      kind.isBound &&
        line &&
        h('button', { type: 'button', onClick: () => press(() => {
          setSkipped([...skipped, nameOf(line)]);
          setEntry({});
        }) }, say('later')),
      Object.keys(entry).length > 0 &&
        h('button', { type: 'button', onClick: () => press(() => setEntry({})) }, say('begin_again')),
      h(Undo, { task }),
      kind.end && !kind.isWhole &&
        h('button', { type: 'button', onClick: () => setEnding(true) }, say('end_task')),
    ]),
    h(Lines, { lines, isBlind: kind.isBlind ?? false }),
  ];
}

/**
 * @param {object} props
 * @param {readonly Line[]} props.lines
 * @param {boolean} props.isBlind
 */
function Progress({ lines, isBlind }) {
  const sum = (/** @type {(line: Line) => number} */ of) => lines.reduce((total, line) => total + of(line), 0);
  const [done, total] = [sum((line) => Math.min(line.done, line.qty)), sum((line) => line.qty)];
  return (
    total > 0 && [
      h('progress', { max: total, value: done, 'aria-label': say('progress') }),
      h(
        'p',
        { class: 'quiet' },
        say(isBlind ? 'lines_done' : 'units_done', {
          done: numberText(done),
          total: numberText(total),
        }),
      ),
    ]
  );
}

/**
 * What is next, in large letters.
 *
 * @param {object} props
 * @param {Line} props.line
 * @param {Entry} props.entry
 * @param {import('../kinds.js').TaskKind} props.kind
 * @param {Task} props.task
 */
function Now({ line, entry, kind, task }) {
  const product = task.goods.products.find(({ item_code }) => item_code === line.item_code);
  const isThere = entry.position !== undefined || !kind.asks.includes('position');
  const open = numberText(line.qty - line.done);
  const serials = [...line.serials, ...(line.proposed ?? [])];
  return h('div', { class: 'now' }, [
    line.position !== null && h('p', { class: isThere ? 'place' : 'place next' }, line.position),
    !(kind.isBlind && !isThere) &&
      line.item_code !== '' &&
      h('p', { class: 'goods' }, [
        !kind.isBlind && h('strong', {}, `${open} × `),
        line.item_code,
        product && h('span', { class: 'quiet' }, ` ${product.name}`),
      ]),
    line.batch && h('p', {}, `${fieldLabel('batch_num')}: ${line.batch}`),
    serials.length > 0 && h('p', {}, `${fieldLabel('serials')}: ${serials.join(', ')}`),
    line.target && h('p', { class: 'place' }, `→ ${line.target}`),
    entry.expires && h('p', {}, `${fieldLabel('expiry_date')}: ${entry.expires}`),
  ]);
}

/**
 * @param {object} props
 * @param {number | ''} props.preset
 * @param {number | null} props.open null: it is not told
 * @param {boolean} props.mayBeZero
 * @param {boolean} props.mayExceed whether more than is open may be asked for, which may need an approval
 * @param {boolean} props.isCounted whether the quantity replaces one that was counted before
 * @param {(qty: number) => void} props.onQty
 */
function Quantity({ preset, open, mayBeZero, mayExceed, isCounted, onQty }) {
  const [warned, setWarned] = useState(NaN);
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  const shown = useRef(preset);
  if (field.current === null || document.activeElement !== field.current) {
    shown.current = preset; // what others do meanwhile does not change a field that somebody fills in
  }
  /** @param {SubmitEvent} event */
  const submit = (event) => {
    event.preventDefault();
    const form = /** @type {HTMLFormElement} */ (event.currentTarget);
    const text = String(new FormData(form).get('qty'));
    const qty = qtyOf(text, decimalSign());
    const isTooMuch = open !== null && Number(qty) > open;
    const isDoubted = isTooMuch || isCounted || Number(qty) >= IMPLAUSIBLE;
    if (typeof qty === 'string' || (qty === 0 && !mayBeZero)) {
      wrong(say(qty || 'no_quantity', { text }));
    } else if ((isTooMuch && !mayExceed) || (isDoubted && warned !== qty)) {
      const excess = mayExceed ? 'more_than_ordered' : 'more_than_open';
      const problem = isTooMuch ? excess : isCounted ? 'counted_before' : 'is_so_much';
      wrong(say(problem, { open: open ?? '', qty: numberText(qty) }));
      setWarned(qty);
    } else {
      onQty(qty);
    }
  };
  return h('form', { class: 'quantity', onSubmit: submit }, [
    h('label', {}, [
      h('span', { class: 'ask' }, say('ask_qty')),
      h('input', {
        ref: field,
        name: 'qty',
        inputMode: 'decimal',
        autocomplete: 'off',
        defaultValue: String(shown.current).replace('.', decimalSign()),
        maxLength: 16,
      }),
    ]),
    h('button', { class: 'main' }, say('confirm')),
  ]);
}

/**
 * @param {object} props
 * @param {string} props.preset
 * @param {(date: string) => void} props.onDate empty: the goods have none
 */
function Expiry({ preset, onDate }) {
  /** @param {SubmitEvent} event */
  const submit = (event) => {
    event.preventDefault();
    onDate(String(new FormData(/** @type {HTMLFormElement} */ (event.currentTarget)).get('date')));
  };
  return [
    h('form', { class: 'quantity', onSubmit: submit }, [
      h('label', {}, [
        h('span', { class: 'ask' }, say('ask_expires')),
        h('input', { name: 'date', type: 'date', required: true, defaultValue: preset }),
      ]),
      h('button', { class: 'main' }, say('confirm')),
    ]),
    h('div', { class: 'buttons' }, h('button', { type: 'button', onClick: () => onDate('') }, say('no_expiry'))),
  ];
}

/**
 * @param {object} props
 * @param {readonly Line[]} props.lines
 * @param {boolean} props.isBlind
 */
function Lines({ lines, isBlind }) {
  return h('details', {}, [
    h('summary', {}, say('all_lines', { count: lines.length })),
    h(
      'ul',
      { class: 'cards' },
      lines.map((line) =>
        h('li', { key: nameOf(line), class: line.done >= line.qty ? 'card done' : 'card' }, [
          h('strong', {}, line.position ?? line.item_code),
          h('span', {}, isBlind ? '' : `${numberText(line.done)} / ${numberText(line.qty)} × ${line.item_code}`),
        ]),
      ),
    ),
  ]);
}

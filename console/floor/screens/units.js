/** The handling units of a packing order: which there are, a new one, and closing one. */

import { calls, newAction } from '../../core/app.js';
import { fieldLabel, valueLabel } from '../../core/words.js';
import { useRef, useState } from '../../vendor/hooks.js';
import { h } from '../../vendor/preact.js';
import { Notice } from '../../components/notice.js';
import { qtyOf } from '../goods.js';
import { unitOf, unitsOf } from '../kinds.js';
import { decimalSign } from '../names.js';
import { failed, wrong } from '../scanning.js';
import { record } from '../state.js';
import { say } from '../words.js';
import { isOpenUnit, keepUnit } from '../work.js';

const TYPES = /** @type {const} */ (['carton', 'pallet', 'tote', 'other']);

/**
 * @param {object} props
 * @param {import('../store.js').Task} props.task
 * @param {string} [props.unit] code of the one that is being filled
 * @param {(code: string) => void} props.onUnit
 * @param {() => void} props.onClosed
 */
export function Units({ task, unit, onUnit, onClosed }) {
  const [error, setError] = useState(/** @type {unknown} */ (null));
  const [action] = useState(newAction);
  const [asked, setAsked] = useState('');
  if (unit !== undefined) {
    return h(Closing, { task, unit: unitOf(task, unit), onClosed });
  }
  /** @param {typeof TYPES[number]} type */
  const create = async (type) => {
    setError(null);
    setAsked(type);
    try {
      const parameters = { id: task.id.split('/')[1] ?? '' };
      const { body } = await action.run((key) =>
        calls.write('POST /packing-orders/{id}/handling-units', { key, parameters, body: { type } }),
      );
      await keepUnit(task, body.data);
      onUnit(body.data.code);
    } catch (failure) {
      setError(failure);
    }
  };
  const open = unitsOf(task).filter(({ code }) => isOpenUnit(task, code));
  return h('div', { class: 'buttons' }, [
    h(Notice, { error, isWrite: true }),
    ...open.map((one) =>
      h('button', { type: 'button', key: one.id, onClick: () => onUnit(one.code) }, one.code),
    ),
    ...TYPES.map((type) =>
      h(
        'button',
        // without an answer there may be one already: only the same request finds it
        { type: 'button', key: type, disabled: action.isOpen && type !== asked, onClick: () => void create(type) },
        say('new_unit', { type: valueLabel(type) }),
      ),
    ),
  ]);
}

/**
 * @param {object} props
 * @param {import('../store.js').Task} props.task
 * @param {any} props.unit
 * @param {() => void} props.onClosed
 */
function Closing({ task, unit, onClosed }) {
  const isClosed = useRef(false);
  /** @param {SubmitEvent} event */
  const submit = async (event) => {
    event.preventDefault();
    const written = String(new FormData(/** @type {HTMLFormElement} */ (event.currentTarget)).get('weight'));
    const weight = written.trim() === '' ? null : qtyOf(written, decimalSign()) || 'no_quantity';
    if (typeof weight === 'string') {
      wrong(say(weight, { text: written }));
      return;
    }
    if (isClosed.current) {
      return; // a second tap
    }
    isClosed.current = true;
    const request = {
      operation: 'POST /handling-units/{id}/close',
      parameters: { id: unit.id },
      body: weight === null ? {} : { weight_kg: weight },
    };
    const text = say('close_unit', { code: unit.code });
    await record({ task: task.id, text, request }).then(onClosed, (error) => {
      isClosed.current = false;
      failed(error);
    });
  };
  return (
    unit?.contents.length > 0 &&
    h('form', { class: 'quantity', onSubmit: submit }, [
      h('label', {}, [
        fieldLabel('weight_kg'),
        h('input', { name: 'weight', inputMode: 'decimal', autocomplete: 'off', maxLength: 12 }),
      ]),
      h('button', {}, say('close_unit', { code: unit.code })),
    ])
  );
}

/**
 * What the search of the header finds, below its field, and what was opened last.
 */

import { calls, session } from '../core/app.js';
import { go, href } from '../core/address.js';
import { beside, isCalled, meant, MOST, questions } from '../core/find.js';
import { mayLeave } from '../core/leaving.js';
import { isNotOffered } from '../core/refusal.js';
import { itemPath } from '../core/subject.js';
import { lastOpened } from '../core/recent.js';
import { fieldLabel, subjectLabel, text, valueLabel } from '../core/words.js';
import { useEffect, useState } from '../vendor/hooks.js';
import { h } from '../vendor/preact.js';
import { Notice } from './notice.js';

/**
 * @typedef {import('../core/find.js').Question} Question
 * @typedef {import('../core/find.js').Hits} Hits
 * @typedef {{to: string, title: string, more: string}} Choice
 */

/** Milliseconds without a key before the lists are asked. */
const PAUSE = 300;

/**
 * @param {object} props
 * @param {HTMLInputElement} props.input
 * @param {readonly import('../core/subject.js').Subject[]} props.subjects
 * @param {string} props.written
 * @param {boolean} props.isEntered whether the person, or a scanner, ended it with Enter
 * @param {() => void} props.onClose
 */
export function Found({ input, subjects, written, isEntered, onClose }) {
  const { found, isDone, error } = useFound(subjects, written, isEntered);
  const [active, setActive] = useState(-1);
  useEffect(() => setActive(-1), [written]);
  useEffect(() => {
    const hit = isDone && isEntered && !error ? meant(written, found) : null;
    if (hit !== null && mayLeave()) {
      go(href([hit.subject.name, hit.row.id]));
    }
  }, [isDone, isEntered, found]);
  const groups = written.trim() ? groupsOf(found) : recent();
  const choices = groups.flatMap((group) => group.choices);
  useEffect(() => {
    /** @param {KeyboardEvent} event */
    const move = (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      const chosen = choices[active];
      if (step !== undefined && choices.length > 0) {
        event.preventDefault();
        const from = active < 0 && step < 0 ? 0 : active;
        setActive((from + step + choices.length) % choices.length);
      } else if (event.key === 'Enter' && chosen !== undefined) {
        event.preventDefault();
        if (mayLeave()) {
          go(chosen.to);
        }
      } else if (event.key === 'Escape') {
        onClose();
      }
    };
    input.addEventListener('keydown', move);
    return () => input.removeEventListener('keydown', move);
  });
  useEffect(() => {
    const option = document.getElementById(`found-${active}`);
    option?.scrollIntoView({ block: 'nearest' });
    if (option === null) {
      input.removeAttribute('aria-activedescendant');
    } else {
      input.setAttribute('aria-activedescendant', option.id);
    }
  }, [active]);
  useEffect(() => () => input.removeAttribute('aria-activedescendant'), []);
  let last = -1;
  return h('div', { class: 'found', onMouseDown: (/** @type {Event} */ event) => event.preventDefault() }, [
    h(
      'div',
      { id: 'found', role: 'listbox', 'aria-label': text('find') },
      groups.map(({ label, choices: own }) =>
        h('div', { key: label, role: 'group', 'aria-label': label }, [
          h('p', { role: 'presentation', class: 'quiet' }, label),
          ...own.map(({ to, title, more }) => {
            last += 1;
            return h(
              'a',
              { key: to, id: `found-${last}`, role: 'option', tabIndex: -1, href: to, 'aria-selected': last === active },
              [h('b', {}, title), ` ${more}`],
            );
          }),
        ]),
      ),
    ),
    h(Notice, { error }),
    h('p', { class: 'quiet', role: 'status' }, [
      written.trim() && (isDone ? groups.length === 0 && text('nothing_found') : text('loading')),
    ]),
  ]);
}

/**
 * Ask the lists for what a person writes. Questions about what stood there before are stopped.
 *
 * @param {readonly import('../core/subject.js').Subject[]} subjects
 * @param {string} written
 * @param {boolean} isEntered
 */
function useFound(subjects, written, isEntered) {
  const [state, setState] = useState({ key: '', found: /** @type {Hits[]} */ ([]), error: /** @type {unknown} */ (null) });
  const key = `${isEntered} ${written}`;
  const asked = questions(subjects, written, isEntered);
  useEffect(() => {
    const stop = new AbortController();
    const timer = setTimeout(
      async () => {
        /** @type {unknown} */
        let refusal = null;
        const answers = await Promise.all(
          asked.map(async (question) => {
            try {
              return await hitsOf(question, stop.signal);
            } catch (error) {
              refusal = isNotOffered(error) ? refusal : error;
              return null;
            }
          }),
        );
        if (!stop.signal.aborted) {
          const found = answers.filter((hits) => hits !== null && hits.total > 0);
          setState({ key, found: distinct(/** @type {Hits[]} */ (found)), error: refusal });
        }
      },
      isEntered || asked.length === 0 ? 0 : PAUSE,
    );
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [key]);
  // until the answers come, the results of what stood there before are shown
  return { ...state, isDone: state.key === key };
}

/**
 * @param {Question} question
 * @param {AbortSignal} signal
 * @returns {Promise<Hits>}
 */
async function hitsOf(question, signal) {
  const { subject, query, id, named } = question;
  if (id !== undefined) {
    const one = /** @type {'GET /products/{id}'} */ (`GET ${itemPath(subject)}`);
    const { body } = await calls.read(one, { parameters: { id }, signal });
    return { question, rows: [body.data], total: 1 };
  }
  const operation = /** @type {'GET /products'} */ (`GET /${subject.name}`);
  const { body } = await calls.read(operation, { query, signal });
  if (named === undefined) {
    return { question, rows: body.data, total: body.meta.total };
  }
  const rows = /** @type {Record<string, any>[]} */ (body.data).filter((row) => isCalled(row[subject.title], named));
  return { question, rows: rows.slice(0, MOST), total: rows.length, listed: body.meta.total };
}

/**
 * Return the hits without those of a subject that another question found, too.
 *
 * @param {readonly Hits[]} found
 */
function distinct(found) {
  /** @type {Set<string>} */
  const known = new Set();
  return found
    .map((hits) => ({
      ...hits,
      rows: hits.rows.filter((row) => {
        const name = `${hits.question.subject.name} ${hits.question.isList} ${row.id}`;
        return !known.has(name) && known.add(name);
      }),
    }))
    .filter(({ rows }) => rows.length > 0);
}

/**
 * Return the choices by subject: several questions may be about one.
 *
 * @param {readonly Hits[]} found
 */
function groupsOf(found) {
  /** @type {Map<string, Choice[]>} */
  const groups = new Map();
  for (const hits of found) {
    const label = subjectLabel(hits.question.subject.name);
    groups.set(label, [...(groups.get(label) ?? []), ...choicesOf(hits)]);
  }
  return [...groups].map(([label, choices]) => ({ label, choices }));
}

/**
 * Return the choices of hits, and one that leads to their list if it has more.
 *
 * @param {Hits} hits
 * @returns {Choice[]}
 */
export function choicesOf({ question: { subject, query, isList }, rows, total, listed = total }) {
  const { per_page, ...asked } = query;
  const all = href([subject.name], /** @type {Record<string, string>} */ (asked));
  if (isList) {
    const [[filter, value] = ['', '']] = Object.entries(asked);
    return [{ to: all, title: `${fieldLabel(filter)} ${value}`, more: '' }];
  }
  const choices = rows.map((row) => ({
    to: href([subject.name, row.id]),
    title: nameIn(subject, row),
    more: beside(subject, row).map(({ name, value }) => (/status|type/.test(name) ? valueLabel(value, name) : value)).join(' · '),
  }));
  if (total > MOST) {
    choices.push({ to: all, title: text('found_all', { count: listed }), more: '' });
  }
  return choices;
}

/**
 * @param {import('../core/subject.js').Subject} subject
 * @param {Record<string, any>} row
 */
function nameIn({ title, kind }, row) {
  return title === 'id' ? `${valueLabel(kind)} ${row.id}` : String(row[title]);
}

/** What was opened last. */
function recent() {
  const rows = lastOpened(sessionStorage, session.owner);
  const choices = rows.map(({ subject, id, title }) => ({
    to: href([subject, id]),
    title,
    more: subjectLabel(subject),
  }));
  return choices.length > 0 ? [{ label: text('found_recently'), choices }] : [];
}

/**
 * Today's work: figures, each of which leads to the list that it counts.
 */

import { calls, isPermitted, locale } from '../core/app.js';
import { href } from '../core/address.js';
import { attentionFigures, replenishmentFigure, webhookFigures, workFigures } from '../core/figures.js';
import { formatNumber } from '../core/format.js';
import { isNotOffered, Refusal } from '../core/refusal.js';
import { listPath } from '../core/subject.js';
import { useLoaded, useRefresh } from '../core/use.js';
import { subjectLabel, text, valueLabel } from '../core/words.js';
import { today } from '../core/zone.js';
import { SUBJECT } from '../subjects.js';
import { useState } from '../vendor/hooks.js';
import { h } from '../vendor/preact.js';
import { Lazy } from '../components/lazy.js';
import { Notice } from '../components/notice.js';
import { Title } from '../components/title.js';

/**
 * @typedef {import('../core/figures.js').Figure} Figure
 * @typedef {number | null} Count null if the list cannot be read now
 */

/**
 * Milliseconds after which the figures are counted again: each is a request, and more often would
 * take more than half of those that a user may send.
 */
const PAUSE = 30_000;

export function Home() {
  const day = today();
  const attention = useFigures(`attention ${day}`, async () => attentionFigures(day));
  const webhooks = useFigures('webhooks', figuresOfWebhooks);
  const work = useFigures('work', async () => workFigures());
  const replenishments = useFigures('replenishments', figuresOfReplenishments);
  const all = [attention, replenishments, webhooks, work];
  useRefresh(() => all.forEach(({ refresh }) => refresh()), PAUSE);
  const urgent = [...attention.figures, ...replenishments.figures, ...webhooks.figures].filter(([, count]) => count !== 0);
  return h('section', {}, [
    h(Title, { title: text('today') }),
    h(Notice, {
      error: all.map(({ error }) => error).find(Boolean),
      onRetry: () => all.forEach(({ reload }) => reload()),
    }),
    h('h2', {}, text('needs_attention')),
    h(Lazy, { load: () => import('../components/granted.js'), name: 'Granted', props: {} }),
    urgent.length === 0 && !attention.error
      ? h('p', { class: 'quiet' }, text(attention.isLoading ? 'loading' : 'nothing_needs_attention'))
      : h(Figures, { figures: urgent }),
    h('h2', {}, text('in_progress')),
    h(Figures, { figures: work.figures }),
  ]);
}

/**
 * Count figures. Each is shown as soon as it is counted.
 *
 * @param {string} key
 * @param {(signal: AbortSignal) => Promise<Figure[]>} choose
 * @returns {{figures: [Figure, Count][], error: unknown, isLoading: boolean, reload: () => void,
 *   refresh: () => void}}
 *   without those of lists that the user may not read
 */
function useFigures(key, choose) {
  const [shown, setShown] = useState(/** @type {readonly Figure[]} */ ([]));
  const [counts, setCounts] = useState(/** @type {Readonly<Record<string, Count>>} */ ({}));
  const { error, isLoading, reload, refresh } = useLoaded(key, async (signal) => {
    const allowed = (await choose(signal)).filter(({ subject }) =>
      isPermitted(SUBJECT.get(subject)?.permission ?? null),
    );
    setShown(allowed);
    await Promise.all(
      allowed.map(async (figure) => {
        const count = await total(figure, signal);
        if (count !== undefined) {
          setCounts((before) => ({ ...before, [keyOf(figure)]: count }));
        }
      }),
    );
  });
  const figures = shown.flatMap((figure) => {
    const count = counts[keyOf(figure)];
    return count === undefined ? [] : [/** @type {[Figure, Count]} */ ([figure, count])];
  });
  return { figures, error, isLoading, reload, refresh };
}

/** @param {Figure} figure */
function keyOf(figure) {
  return JSON.stringify(figure);
}

/**
 * @param {Figure} figure
 * @param {AbortSignal} signal
 * @returns {Promise<Count | undefined>} undefined if there is no such list for the user
 */
async function total({ subject, id = '', query, count }, signal) {
  if (count !== undefined) {
    return count;
  }
  const path = listPath(/** @type {import('../core/subject.js').Subject} */ (SUBJECT.get(subject)));
  const operation = /** @type {'GET /products'} */ (`GET ${path}`);
  try {
    const asked = { ...query, per_page: 1 };
    const { body } = await calls.read(operation, { parameters: { id }, query: asked, signal });
    return body.meta.total;
  } catch (error) {
    if (!(error instanceof Refusal)) {
      throw error;
    }
    return isNotOffered(error) ? undefined : null;
  }
}

/** Warehouses whose pick faces are looked at: each is a request. */
const WAREHOUSES = 5;

/** @param {AbortSignal} signal */
async function figuresOfReplenishments(signal) {
  try {
    const { body } = await calls.read('GET /warehouses', { query: { per_page: WAREHOUSES }, signal });
    const figures = body.data.map(async ({ whs_code: warehouse }) => {
      const { body: page } = await calls.read('GET /replenishments', { query: { warehouse }, signal });
      return replenishmentFigure(warehouse, page.data.length, page.links.next !== null);
    });
    return await Promise.all(figures);
  } catch (error) {
    if (isNotOffered(error)) {
      return [];
    }
    throw error;
  }
}

/** @param {AbortSignal} signal */
async function figuresOfWebhooks(signal) {
  if (!isPermitted(SUBJECT.get('webhooks')?.permission ?? null)) {
    return [];
  }
  try {
    // one page has all: a company has at most 20
    const { body } = await calls.read('GET /webhooks', { query: { per_page: 100 }, signal });
    return webhookFigures(body.data);
  } catch (error) {
    if (isNotOffered(error)) {
      return [];
    }
    throw error;
  }
}

/**
 * @param {object} props
 * @param {readonly [Figure, Count][]} props.figures
 */
function Figures({ figures }) {
  return h(
    'ul',
    { class: 'figures' },
    figures.map(([figure, count]) => h(Card, { key: keyOf(figure), figure, count })),
  );
}

/**
 * @param {object} props
 * @param {Figure} props.figure
 * @param {Count} props.count
 */
function Card({ figure: { subject, id, query, label, detail, isMore }, count }) {
  const parent = SUBJECT.get(subject)?.parent;
  const path = parent === undefined || id === undefined ? [subject] : [parent, id, subject];
  const state = query.status ?? query.result;
  const isOne = state !== undefined && !state.includes(',');
  const words = [label && text(label), isOne && valueLabel(state), detail];
  return h('li', { class: count === 0 ? 'none' : undefined }, [
    h('a', { href: href(path, query) }, [
      h('strong', {}, count === null ? '—' : `${formatNumber(count, locale.value)}${isMore ? '+' : ''}`),
      h('span', {}, subjectLabel(subject)),
      h('span', { class: 'quiet' }, words.filter(Boolean).join(' · ')),
      count === null && h('span', { class: 'quiet' }, text('not_counted')),
    ]),
  ]);
}

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { attentionFigures, replenishmentFigure, webhookFigures, workFigures } from '../../console/core/figures.js';
import { listPath } from '../../console/core/subject.js';
import { SUBJECT } from '../../console/subjects.js';

const WEBHOOKS = [
  { id: 4, url: 'https://erp.test/hook', is_active: true, failure_count: 2 },
  { id: 5, url: 'https://shop.test/hook', is_active: false, failure_count: 0 },
];
const figures = [
  ...attentionFigures('2026-03-01'),
  ...workFigures(),
  ...webhookFigures(WEBHOOKS),
];

test('every figure counts a list, with filters and values that this list has', async () => {
  for (const { subject: name, query } of figures) {
    const subject = SUBJECT.get(name);
    assert.ok(subject, name);
    const file = `../../console/interface/${subject.parent ?? name}.js`;
    const list = (await import(file)).default.lists[listPath(subject)];
    const { sort, ...filters } = query;
    assert.ok(sort === undefined || list.sorts.includes(sort), `${name}: ${sort}`);
    for (const [filter, value] of Object.entries(filters)) {
      const field = list.filters.find((/** @type {{name: string}} */ one) => one.name === filter);
      assert.ok(field, `${name}: ${filter}`);
      const choices = field.choices ?? field.items?.choices;
      assert.ok(value.split(',').every((one) => choices?.includes(one) ?? true), `${name}: ${filter}=${value}`);
    }
  }
});

test('overdue is what should have been there yesterday, and is not finished', () => {
  const overdue = attentionFigures('2026-03-01').filter(({ label }) => label === 'overdue');
  assert.deepEqual(
    overdue.map(({ subject, query }) => `${subject} ${query.status} ${query.due_to}`),
    ['exit-documents', 'entry-documents'].map((subject) => `${subject} open,assigned,partial-complete 2026-02-28`),
  );
});

test('goods that expire within a week are those that can still be sold', () => {
  const [soon] = attentionFigures('2026-02-25').filter(({ label }) => label === 'expires_soon');
  assert.deepEqual(soon?.query, {
    inventory_status: 'available',
    expires_to: '2026-03-04',
    sort: 'expiry_date',
  });
});

test('the figure of a warehouse leads to its pick faces below minimum', () => {
  const { subject, query, count } = replenishmentFigure('CEN', 100, true);
  assert.deepEqual([subject, query, count], ['replenishments', { warehouse: 'CEN' }, 100]);
});

test('webhooks that are inactive are counted, and the deliveries of those that fail', () => {
  assert.deepEqual(
    webhookFigures(WEBHOOKS).map(({ id, detail, count }) => [id, detail, count]),
    [[undefined, undefined, 1], ['4', 'erp.test', undefined]],
  );
});

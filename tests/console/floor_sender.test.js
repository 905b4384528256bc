import assert from 'node:assert/strict';
import { test } from 'node:test';

import { NoAnswer, Refusal, SessionEnded } from '../../console/core/refusal.js';
import { keptBy } from '../../console/floor/kept.js';
import { withAnswer } from '../../console/floor/sender.js';
import { refreshTask } from '../../console/floor/take.js';
import { HOUR, Killed, OWNER, prepared, refusal, scan, statuses } from './floor_device.js';

/** @typedef {import('../../console/floor/store.js').Scan} Scan */

test('scans are sent in order, and the task shows what the answers show', async () => {
  const { store, sender, service } = await prepared();
  for (const text of ['a', 'b', 'c']) {
    await scan(store, sender, 1, text);
  }
  assert.equal(await sender.run(), 'sent');
  assert.deepEqual(service.picked['pickings/1'], ['a', 'b', 'c']);
  const task = await store.task(OWNER, 'pickings/1');
  assert.deepEqual(task?.resources['pickings/1'].lines, ['a', 'b', 'c']);
  assert.equal(task?.etags['pickings/1'], '"a,b,c"');
});

test('a refused scan stops its task and no other; again asks with another key', async () => {
  const { store, sender, service } = await prepared();
  await scan(store, sender, 1, 'a');
  await scan(store, sender, 1, 'b');
  await scan(store, sender, 2, 'x');
  service.refuses = ({ text }) => (text === 'a' ? refusal('conflict') : null);
  assert.equal(await sender.run(), 'sent');
  assert.deepEqual(service.picked, { 'pickings/1': [], 'pickings/2': ['x'] });
  const [refused] = await store.scans(OWNER);
  assert.equal(refused?.trouble?.code, 'conflict');
  service.refuses = () => null;
  await sender.decide(/** @type {Scan} */ (refused), 'again');
  await sender.run();
  assert.deepEqual(service.picked['pickings/1'], ['a', 'b']);
  assert.equal(service.known.has('key-1'), false);
});

test('a clock that is set while a task lasts is noticed with the next answer, also with a refusal', async () => {
  const { store, sender, service } = await prepared();
  const hourLater = new Date(Date.now() + HOUR).toUTCString();
  const behind = async () => ((await store.task(OWNER, 'pickings/1'))?.ahead ?? 0) < -HOUR / 2;
  await scan(store, sender, 1, 'a');
  await sender.run();
  assert.equal(await behind(), false);
  service.refuses = () => new Refusal(422, 'validation_failed', 'No.', { date: hourLater });
  await scan(store, sender, 1, 'b');
  await sender.run();
  assert.equal(await behind(), true);
  service.refuses = () => null;
  service.date = new Date().toUTCString();
  await sender.decide(/** @type {Scan} */ ((await store.scans(OWNER)).at(-1)), 'skip');
  await scan(store, sender, 1, 'c');
  await sender.run();
  assert.equal(await behind(), false);
});

test('what is skipped is gone, what is left stays on the device, and both let the task go on', async () => {
  const { store, sender, service } = await prepared();
  for (const text of ['a', 'b', 'c']) {
    await scan(store, sender, 1, text);
  }
  service.refuses = ({ text }) => (text === 'c' ? null : refusal('rule_blocked', 422));
  await sender.run();
  const [first] = await store.scans(OWNER);
  await sender.decide(/** @type {Scan} */ (first), 'skip');
  await sender.run();
  const [second] = await store.scans(OWNER);
  await sender.decide(/** @type {Scan} */ (second), 'leave');
  await sender.run();
  assert.deepEqual(await statuses(store), [['b', 'left'], ['c', 'done']]);
  assert.equal(await store.forget(OWNER, 'pickings/1'), false, 'a scan is left');
  assert.deepEqual((await store.pending()).map(({ text }) => text), ['b']);
});

test('a refusal that may follow a lost answer keeps the key, so that again does nothing twice', async () => {
  const { store, sender, service } = await prepared();
  await scan(store, sender, 1, 'a');
  service.fault = (at) => {
    if (at === 'after') {
      throw new NoAnswer(null);
    }
  };
  assert.equal(await sender.run(), 'unanswered');
  service.fault = () => {
    throw refusal('forbidden', 403);
  };
  assert.equal(await sender.run(), 'sent');
  service.fault = () => undefined;
  const [refused] = await store.scans(OWNER);
  await sender.decide(/** @type {Scan} */ (refused), 'again');
  await sender.run();
  assert.deepEqual(service.picked['pickings/1'], ['a']);
  assert.deepEqual(await statuses(store), [['a', 'done']]);
});

for (const [error, outcome] of /** @type {const} */ ([
  [new SessionEnded(), 'ended'],
  [refusal('tenant_suspended', 402), 'suspended'],
  [refusal('tenant_cancelled', 402), 'cancelled'],
  [refusal('tenant_moved', 410), 'moved'],
  [new Refusal(402, 'feature_not_in_plan', 'No.', { error: { feature: 'api.public.enabled' } }), 'suspended'],
  [refusal('rate_limited', 429), 'limited'],
  [new Refusal(403, 'forbidden', 'The request is not allowed.'), 'limited'],
  [refusal('http_403', 403), 'unanswered'],
  [refusal('internal_error', 500), 'unanswered'],
  [refusal('duplicate_in_flight'), 'unanswered'],
])) {
  const name = error instanceof Refusal ? `${error.code}, ${error.message}` : error.message;
  test(`scans wait after ${name}, with their keys: ${outcome}`, async () => {
    const { store, sender, service } = await prepared();
    await scan(store, sender, 1, 'a');
    service.fault = () => {
      throw error;
    };
    assert.equal(await sender.run(), outcome);
    assert.deepEqual(await statuses(store), [['a', 'waiting']]);
    service.fault = () => undefined;
    await sender.run();
    assert.deepEqual([...service.known.keys()], ['key-1']);
  });
}

test('what the service says when it serves the company no longer is kept for the screens', async () => {
  const { store, sender, service } = await prepared();
  await scan(store, sender, 1, 'a');
  service.fault = () => {
    throw new Refusal(410, 'tenant_moved', 'Its address is https://wms.example.');
  };
  await sender.run();
  assert.equal(sender.notice, 'Its address is https://wms.example.');
});

test('a feature that the plan lacks is a decision of its task', async () => {
  const { store, sender, service } = await prepared();
  await scan(store, sender, 1, 'a');
  await scan(store, sender, 2, 'x');
  service.refuses = ({ text }) =>
    text === 'a' ? new Refusal(402, 'feature_not_in_plan', 'No.', { error: { feature: 'waves' } }) : null;
  assert.equal(await sender.run(), 'sent');
  assert.deepEqual(await statuses(store), [['a', 'refused'], ['x', 'done']]);
});

test('a scan whose request cannot be made is a decision, and others are sent', async () => {
  const { store, sender, service } = await prepared();
  const broken = await scan(store, sender, 1, 'a');
  await scan(store, sender, 2, 'x');
  const write = service.write.bind(service);
  service.write = async (operation, options) => {
    if (options.key === broken.key) {
      throw new TypeError('POST /handling-units/{id}/contents needs id');
    }
    return write(operation, options);
  };
  assert.equal(await sender.run(), 'sent');
  assert.deepEqual(await statuses(store), [['a', 'refused'], ['x', 'done']]);
  const [{ trouble } = assert.fail()] = await store.scans(OWNER);
  assert.deepEqual([trouble?.code, trouble?.message], ['broken', 'TypeError: POST /handling-units/{id}/contents needs id']);
});

test('a key that may be forgotten: sent anew if nothing has changed, otherwise people decide', async () => {
  const { store, sender, service } = await prepared();
  await scan(store, sender, 1, 'a'); // is carried out, without an answer
  await scan(store, sender, 2, 'x'); // never arrives
  service.fault = (at, key) => {
    if (at === (key === 'key-1' ? 'after' : 'before')) {
      throw new NoAnswer(null);
    }
  };
  assert.equal(await sender.run(), 'unanswered');
  // The scan of the second picking is sent first once, so that its key is old too.
  const [first, second] = await store.scans(OWNER);
  await store.change(second?.number ?? 0, (kept) => ({ ...kept, sentAt: 0, etag: '""' }));
  service.time = 25 * HOUR;
  service.fault = () => undefined;
  assert.equal(await sender.run(), 'sent');
  assert.deepEqual(service.picked, { 'pickings/1': ['a'], 'pickings/2': ['x'] });
  assert.equal((await store.scans(OWNER))[0]?.trouble?.code, 'unknown');
  assert.notEqual((await store.scans(OWNER))[1]?.key, second?.key);
  assert.equal((await store.scans(OWNER))[0]?.key, first?.key);
});

test('a request is not repeated before the service took the token that says the time', async () => {
  const { device, store, sender, service } = await prepared();
  await scan(store, sender, 1, 'a');
  service.fault = (at) => {
    if (at === 'after') {
      throw new NoAnswer(null);
    }
  };
  await sender.run();
  service.fault = () => undefined;
  service.time = 25 * HOUR; // the device slept, and its clock was set back: its old token seems fresh
  let isRenewed = false;
  device.clock.now = async () => (isRenewed ? service.time : HOUR);
  const { read, write } = service;
  const renewing = (/** @type {any} */ call) => async (/** @type {any[]} */ ...options) => {
    isRenewed = true; // the service refuses the old token, and the call is repeated with a new one
    return call.apply(service, options);
  };
  Object.assign(service, { read: renewing(read), write: renewing(write) });
  await sender.run();
  assert.deepEqual(service.picked['pickings/1'], ['a']);
  assert.deepEqual(await statuses(store), [['a', 'refused']]);
});

test('what was never sent can be taken back; what may have been carried out cannot', async () => {
  const { store, sender, service } = await prepared();
  const first = await scan(store, sender, 1, 'a');
  assert.equal(await sender.withdraw(first), true);
  const second = await scan(store, sender, 1, 'b');
  service.fault = (at) => {
    if (at === 'after') {
      throw new NoAnswer(null);
    }
  };
  await sender.run();
  assert.equal(await sender.withdraw(second), false);
  assert.deepEqual(service.picked['pickings/1'], ['b']);
});

test('what would take a refused scan back is discarded, or left, with it', async () => {
  for (const [decision, left] of /** @type {const} */ ([['skip', []], ['leave', [['b', 'left'], ['undo b', 'left']]]])) {
    const { store, sender, service } = await prepared();
    await scan(store, sender, 1, 'a');
    const second = await scan(store, sender, 1, 'b');
    const undo = await scan(store, sender, 1, 'undo b');
    await store.change(undo.number, (kept) => ({ ...kept, undoes: second.number }));
    service.refuses = ({ text }) => (text === 'b' ? refusal('conflict') : null);
    await sender.run();
    const refused = (await store.scans(OWNER)).find(({ status }) => status === 'refused');
    await sender.decide(/** @type {Scan} */ (refused), decision);
    await sender.run();
    assert.deepEqual(service.picked['pickings/1'], ['a'], decision);
    assert.deepEqual(await statuses(store), [['a', 'done'], ...left], decision);
  }
});

test('a refusal that comes after the scan was decided elsewhere changes nothing', async () => {
  const { device, store, sender, service } = await prepared();
  await scan(store, sender, 1, 'a');
  service.refuses = () => refusal('conflict');
  await device.sender(store).run(); // a page that was faster
  const [refused] = await store.scans(OWNER);
  const page = device.sender(store);
  await store.change(refused?.number ?? 0, (kept) => ({ ...kept, status: 'waiting' }));
  const write = service.write.bind(service);
  service.write = async () => {
    service.write = write;
    await store.change(refused?.number ?? 0, (kept) => ({ ...kept, status: 'refused' }));
    await page.decide(/** @type {Scan} */ (refused), 'again');
    service.refuses = () => null;
    await page.run();
    throw refusal('conflict');
  };
  await sender.run();
  assert.deepEqual(service.picked['pickings/1'], ['a']);
  assert.deepEqual(await statuses(store), [['a', 'done']]);
});

test('a task that cannot be read after its scan was carried out refuses no scan', async () => {
  const { store, sender, service } = await prepared();
  await store.add({
    owner: OWNER, task: 'pickings/1', text: 'a', key: 'key', effect: null, undoes: null, isEnd: false,
    request: { operation: 'POST /handling-units/{id}/contents', parameters: { id: 5 }, body: { text: 'a' } },
  });
  service.read = async () => {
    throw refusal('not_found', 404);
  };
  assert.equal(await sender.run(), 'sent');
  assert.deepEqual(await statuses(store), [['a', 'done']]);
});

test('who leaves the device leaves only what is not done', async () => {
  const { store, sender } = await prepared();
  await scan(store, sender, 1, 'a');
  await sender.run();
  await scan(store, sender, 2, 'x');
  await store.forgetDone(OWNER);
  assert.deepEqual((await store.tasks(OWNER)).map(({ id }) => id), ['pickings/2']);
  assert.deepEqual(await statuses(store), [['x', 'waiting']]);
});

test('scans of somebody who cannot sign in any more are discarded by their numbers, with their tasks', async () => {
  const { store, sender } = await prepared();
  await scan(store, sender, 1, 'a');
  const later = await scan(store, sender, 2, 'x');
  await store.discard('acme/8', [later.number]);
  assert.equal((await store.pending()).length, 2, 'of somebody else');
  const [{ number } = assert.fail()] = await store.pending();
  await store.discard(OWNER, [number]);
  assert.deepEqual(await statuses(store), [['x', 'waiting']]);
  assert.deepEqual((await store.tasks(OWNER)).map(({ id }) => id), ['pickings/2']);
});

test('who looks at the scans of a device sees those of others only of their company, as a supervisor', () => {
  const pending = /** @type {any[]} */ (['acme/7', 'acme/8', 'acmeville/9', 'acme/7'].map((owner) => ({ owner })));
  const seen = (/** @type {boolean} */ isSupervisor) =>
    keptBy(pending, 'acme/7', isSupervisor).map(({ owner, scans }) => [owner, scans.length]);
  assert.deepEqual(seen(false), [['acme/7', 2]]);
  assert.deepEqual(seen(true), [['acme/7', 2], ['acme/8', 1]]);
});

test('what was read while a scan was sent without an answer is old', async () => {
  const { store, sender, service } = await prepared();
  const task = await store.task(OWNER, 'pickings/1');
  await scan(store, sender, 1, 'a');
  service.fault = (at) => {
    if (at === 'after') {
      throw new NoAnswer(null);
    }
  };
  /** @type {Promise<string> | undefined} */
  let sending;
  const calls = /** @type {any} */ ({
    read: async (/** @type {string} */ operation) => {
      sending ??= sender.run();
      await sending;
      const data = operation.endsWith('goods') ? { products: [], positions: [] } : { lines: ['a'] };
      return { body: { data }, etag: null };
    },
  });
  await refreshTask({ calls, store, owner: OWNER }, /** @type {any} */ (task));
  assert.equal(await sending, 'unanswered');
  assert.deepEqual((await store.task(OWNER, 'pickings/1'))?.resources, {});
});

test('a scan that the service cannot answer keeps no other task from going on', async () => {
  const { store, sender, service } = await prepared();
  await scan(store, sender, 1, 'a');
  await scan(store, sender, 1, 'b');
  await scan(store, sender, 2, 'x');
  service.fault = (_at, key) => {
    if (key === 'key-1') {
      throw refusal('internal_error', 500);
    }
  };
  assert.equal(await sender.run(), 'unanswered');
  assert.deepEqual(service.picked, { 'pickings/1': [], 'pickings/2': ['x'] });
  service.fault = () => undefined;
  assert.equal(await sender.run(), 'sent');
  assert.deepEqual(service.picked['pickings/1'], ['a', 'b']);
});

test('of what is done, only the last scans of each task are kept', async () => {
  const { store, sender } = await prepared();
  for (let number = 0; number < 25; number += 1) {
    await scan(store, sender, 1, `${number}`);
  }
  await scan(store, sender, 2, 'x');
  await sender.run();
  await scan(store, sender, 1, 'waits');
  await store.trim(OWNER);
  const texts = (await store.scans(OWNER)).map(({ text }) => text);
  assert.deepEqual(texts, [...Array.from({ length: 20 }, (_, place) => `${place + 5}`), 'x', 'waits']);
});

test('a scan of somebody else at the device is not sent', async () => {
  const { device, store, sender, service } = await prepared();
  await scan(store, sender, 1, 'a');
  const other = device.sender(store);
  other.owner = 'acme/8';
  assert.equal(await other.run(), 'sent');
  assert.deepEqual(service.picked['pickings/1'], []);
  assert.equal((await store.pending()).length, 1);
});

test('an answer may show all of a task, its head, or some of its lines', () => {
  const goods = { products: [], positions: {} };
  const lines = [{ line_num: 1, qty: null }, { line_num: 2, qty: null }];
  const before = { id: 3, status: 'counting', lines };
  /** @type {import('../../console/floor/store.js').Task} */
  const task = {
    id: 'counts/3', owner: OWNER, resources: { 'counts/3': before }, etags: { 'counts/3': '"1"' },
    warehouse: null, changes: 0, goods,
  };
  const answer = (/** @type {any} */ data) => ({ body: { data }, etag: null });
  const counted = withAnswer(task, 'counts/3', answer({ lines: [{ line_num: 2, qty: 5 }] }));
  assert.deepEqual(counted.resources['counts/3'].lines, [lines[0], { line_num: 2, qty: 5 }]);
  assert.deepEqual([counted.etags, counted.changes], [{}, 1]);
  const finished = withAnswer(counted, 'counts/3', answer({ id: 3, status: 'counted' }));
  assert.equal(finished.resources['counts/3'].status, 'counted');
  assert.equal(finished.resources['counts/3'].lines.length, 2);
  const all = withAnswer(finished, 'counts/3', answer({ id: 3, lines: [] }));
  assert.deepEqual(all.resources['counts/3'].lines, []);
});

/** @param {number} seed */
function randomNumbers(seed) {
  let state = seed + 0x9e3779b9;
  return () => {
    state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x6d2b79f5;
    return ((state ^ (state >>> 12)) >>> 0) / 2 ** 32;
  };
}

test('cuts and kills at random moments: each scan is carried out once, in the order of its task', async () => {
  for (let seed = 0; seed < 30; seed += 1) {
    const { device, service, ...first } = await prepared();
    const random = randomNumbers(seed);
    let { store, sender } = first;
    device.fault = () => {
      if (random() < 0.1) {
        throw new Killed();
      }
    };
    service.fault = () => {
      if (random() < 0.3) {
        throw random() < 0.3 ? new Killed() : new NoAnswer(null);
      }
    };
    /** @type {Record<string, string[]>} */
    const made = { 'pickings/1': [], 'pickings/2': [] };
    for (let round = 0; round < 40 || (await store.pending()).length; round += 1) {
      if (round < 40) {
        const picking = random() < 0.5 ? 1 : 2;
        made[`pickings/${picking}`]?.push(`${round}`);
        await scan(store, sender, picking, `${round}`);
      }
      service.time += random() * HOUR * 0.4;
      try {
        await sender.run();
      } catch (error) {
        if (!(error instanceof Killed)) {
          throw error;
        }
        store = await device.store();
        sender = device.sender(store);
      }
    }
    assert.deepEqual(service.picked, made, `seed ${seed}`);
  }
});

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Vault } from '../../console/floor/vault.js';

/** @returns {any} what a device keeps by name */
function memory() {
  /** @type {Map<string, unknown>} */
  const kept = new Map();
  return {
    kept: async (/** @type {string} */ name) => kept.get(name),
    keep: async (/** @type {string} */ name, /** @type {unknown} */ value) => void kept.set(name, value),
  };
}

/** @param {string} userId */
const user = (userId) => ({
  userId, tenant: 'acme', permissions: new Set(['exits.manage']), isRestricted: false, issuedAt: 1,
});

const PIN = '271828';

test('the PIN opens the session with its last token, and five wrong ones forget it', async () => {
  const store = memory();
  const vault = new Vault(store);
  await vault.choose(PIN, user('7'));
  await vault.seal('first', user('7'), 'Europe/Madrid');
  await vault.seal('second', user('7'), 'Europe/Madrid');
  const opened = await new Vault(store).open(PIN);
  assert.ok(typeof opened === 'object');
  assert.deepEqual([opened.token, opened.user.userId, opened.timeZone], ['second', '7', 'Europe/Madrid']);
  for (const left of [4, 3, 2, 1, 0]) {
    assert.equal(await new Vault(store).open('000000'), left);
  }
  assert.equal(await new Vault(store).open(PIN), 0);
});

test('nobody else is kept behind the PIN of a person', async () => {
  const store = memory();
  const vault = new Vault(store);
  await vault.choose(PIN, user('7'));
  await vault.seal('theirs', user('7'), undefined);
  await vault.seal('of somebody else', user('8'), undefined);
  const opened = await new Vault(store).open(PIN);
  assert.equal(typeof opened === 'object' && opened.token, 'theirs');
});

import assert from 'node:assert/strict';
import { test } from 'node:test';

globalThis.document = /** @type {any} */ ({ baseURI: 'https://acme.test/api/v1/console/' });
const { calls, session } = await import('../../console/core/app.js');
const { userNames } = await import('../../console/core/names.js');
const { NoAnswer } = await import('../../console/core/refusal.js');

test('a name is read once, and again if it could not be read', async () => {
  session.user.value = {
    userId: '7', tenant: 'acme', permissions: new Set(['users.manage']), isRestricted: false, issuedAt: 0,
  };
  /** @type {unknown[]} */
  const answers = [new NoAnswer(new TypeError()), { body: { data: { name: 'Ana' } } }];
  calls.read = /** @type {any} */ (async () => {
    const answer = answers.shift();
    if (answer instanceof Error) {
      throw answer;
    }
    return answer;
  });
  assert.deepEqual([...(await userNames([8]))], []);
  assert.deepEqual([...(await userNames([8]))], [['8', 'Ana']]);
  assert.deepEqual([...(await userNames([8, null, 8]))], [['8', 'Ana']]);
});

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { runInNewContext } from 'node:vm';

const script = new URL('../../functions/reference/page/start.js', import.meta.url);
const document = new URL('../../docs/reference/openapi.json', import.meta.url);

/** Runs the script of the page /docs, and returns the options of Swagger UI. */
async function optionsOfPage() {
  /** @type {any} */
  let options;
  const window = { SwaggerUIBundle: (/** @type {any} */ given) => (options = given) };
  const answer = { json: async () => JSON.parse(readFileSync(document, 'utf8')) };
  runInNewContext(readFileSync(script, 'utf8'), {
    URL, crypto, window, fetch: async () => answer, document: { baseURI: 'https://a.example/api/v1/docs' },
  });
  await new Promise(setImmediate);
  return options;
}

test('the page of the interface sends a new Idempotency-Key with each call', async () => {
  const { requestInterceptor, spec } = await optionsOfPage();
  const key = (/** @type {object} */ given) => {
    const request = { method: 'POST', url: 'https://a.example/api/v1/products', headers: {}, ...given };
    return requestInterceptor(request).headers['Idempotency-Key'];
  };
  assert.match(key({}), /^[0-9a-f-]{36}$/);
  assert.notEqual(key({}), key({}));
  assert.equal(key({ headers: { 'Idempotency-Key': 'mine' } }), 'mine');
  assert.equal(key({ method: 'GET' }), undefined);
  assert.equal(key({ url: 'https://a.example/api/v1/oauth/token' }), undefined);
  // Swagger UI sends nothing while a required field is empty.
  assert.equal(spec.components.parameters.IdempotencyKeyRequired.required, false);
});

/**
 * Names of what lines and movements have only codes or ids of: products and users. They are read once
 * while the page is open.
 */

import { calls, isPermitted, session } from './app.js';
import { useLoaded } from './use.js';

/** Names that are read for one screen: each is a request. */
const MOST = 20;

/** @type {Map<string, Promise<string | null>>} */
const read = new Map();

/**
 * @param {string} key
 * @param {() => Promise<string>} load
 */
function once(key, load) {
  const own = `${session.owner} ${key}`;
  const found =
    read.get(own) ??
    load().catch(() => {
      read.delete(own); // a screen works without, and the next one asks again
      return null;
    });
  read.set(own, found);
  return found;
}

/**
 * Return the names of users by their ids; of those that the person may not read there are none.
 *
 * @param {readonly unknown[]} ids
 * @returns {Promise<ReadonlyMap<string, string>>}
 */
export async function userNames(ids) {
  const asked = isPermitted('users.manage') ? [...new Set(ids.filter((id) => id != null).map(String))] : [];
  return namesOf(asked, 'user', async (id) => {
    const { body } = await calls.read('GET /users/{id}', { parameters: { id } });
    return body.data.name;
  });
}

/**
 * Return the names of products by their codes. Work has those of its goods in one request.
 *
 * @param {readonly string[]} codes
 * @param {{subject: string, id: string | number} | null} work
 * @returns {Promise<ReadonlyMap<string, string>>}
 */
async function productNames(codes, work) {
  if (work === null) {
    return namesOf(codes, 'product', async (code) => {
      const { body } = await calls.read('GET /products', { query: { item_code: code, per_page: 1 } });
      return body.data[0]?.name ?? '';
    });
  }
  const operation = /** @type {'GET /counts/{id}/goods'} */ (`GET /${work.subject}/{id}/goods`);
  const { body } = await calls.read(operation, { parameters: { id: work.id } });
  return new Map(body.data.products.map(({ item_code: code, name }) => [code, name]));
}

/**
 * @param {readonly string[]} keys
 * @param {string} kind
 * @param {(key: string) => Promise<string>} load
 */
async function namesOf(keys, kind, load) {
  const pairs = keys.slice(0, MOST).map(async (key) => /** @type {const} */ ([key, await once(`${kind} ${key}`, () => load(key))]));
  const found = await Promise.all(pairs);
  return new Map(found.flatMap(([key, name]) => (name ? [/** @type {const} */ ([key, name])] : [])));
}

/**
 * Use the names of the products of lines that have only their codes; there are none of many products
 * that only a request for each could name.
 *
 * @param {readonly {item_code?: string}[]} lines
 * @param {{subject: string, id: string | number} | null} work with `/goods`
 * @returns {ReadonlyMap<string, string> | null}
 */
export function useProductNames(lines, work) {
  const codes = [...new Set(lines.flatMap(({ item_code: code }) => code ?? []))].sort();
  const isLeftOut = codes.length === 0 || (work === null && codes.length > MOST);
  const key = `names ${work?.subject} ${work?.id} ${codes}`;
  return useLoaded(key, async () => (isLeftOut ? null : productNames(codes, work))).result;
}

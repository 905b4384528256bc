/**
 * Calls of the interface, by the rules for callers: one Idempotency-Key for all attempts of an
 * action, repetitions of what may be repeated, and one renewal of a refused token.
 */

import { isUnknown, NoAnswer, Refusal, refusalOf } from './refusal.js';

/**
 * @typedef {import('../types/operations.js').Operations} Operations
 * @typedef {import('./browser.js').Browser} Browser
 * @typedef {import('./session.js').Session} Session
 * @typedef {Record<string, string | number>} Parameters values of `{name}` in a path
 * @typedef {Record<string, string | number | boolean | null | undefined>} Query
 */

/**
 * @template Result
 * @typedef {object} Answer
 * @property {Result} body
 * @property {string | null} etag
 * @property {string | null} [date] when the service answered, by its clock
 */

/** Attempts of a call in all. */
const ATTEMPTS = 4;

/** Longest wait in seconds before an attempt that nobody asks for. */
const LONGEST_WAIT = 20;

/** One action of a person: all attempts to carry it out have the same key and body. */
export class Action {
  /** @param {Browser} browser */
  constructor(browser) {
    this.browser = browser;
    this.#key = browser.newKey();
  }

  #key;
  #isOpen = false;

  /** Whether no answer came so far: the body must not change before there is one. */
  get isOpen() {
    return this.#isOpen;
  }

  get key() {
    return this.#key;
  }

  /**
   * Run a request of this action. After an answer, the next run is a new action.
   *
   * @template Result
   * @param {(key: string) => Promise<Result>} request
   * @returns {Promise<Result>}
   */
  async run(request) {
    this.#isOpen = true;
    try {
      const result = await request(this.#key);
      this.#close();
      return result;
    } catch (error) {
      if (error instanceof Refusal && !isUndecided(error)) {
        this.#close();
      }
      throw error;
    }
  }

  #close() {
    this.#isOpen = false;
    this.#key = this.browser.newKey();
  }
}

export class Calls {
  /**
   * @param {Session} session
   * @param {Browser} browser
   */
  constructor(session, browser) {
    this.session = session;
    this.browser = browser;
  }

  /**
   * Read a resource or a page of a list.
   *
   * @template {keyof Operations & `GET ${string}`} Name
   * @param {Name} operation
   * @param {{parameters?: Parameters, query?: Query, signal?: AbortSignal}} [options]
   * @returns {Promise<Answer<Operations[Name]['result']>>}
   * @throws {Refusal | NoAnswer | import('./refusal.js').SessionEnded}
   */
  async read(operation, { parameters = {}, query = {}, signal } = {}) {
    const path = pathOf(operation, parameters) + queryText(query);
    return this.#send(path, { method: 'GET', ...(signal ? { signal } : {}) }, answerOf);
  }

  /**
   * Read a file, with the name that the service gives it.
   *
   * @param {string} path with its query
   * @returns {Promise<File>}
   */
  async download(path) {
    return this.#send(path, { method: 'GET' }, fileOf);
  }

  /**
   * Carry an action out. Run it in `Action.run`, which keeps the key.
   *
   * @template {keyof Operations} Name
   * @param {Name} operation
   * @param {object} options
   * @param {string} options.key Idempotency-Key
   * @param {Parameters} [options.parameters]
   * @param {Operations[Name]['body']} [options.body] one with a file is sent as a form
   * @param {string | null} [options.etag] the resource must still have this ETag
   * @returns {Promise<Answer<Operations[Name]['result']>>}
   * @throws {Refusal | NoAnswer | import('./refusal.js').SessionEnded}
   */
  async write(operation, { key, parameters = {}, body, etag = null }) {
    /** @type {Record<string, string>} */
    const headers = { 'Idempotency-Key': key };
    if (etag !== null) {
      headers['If-Match'] = etag;
    }
    /** @type {RequestInit} */
    const init = { method: operation.split(' ')[0] ?? '', headers };
    if (Object.values(body ?? {}).some((value) => value instanceof File)) {
      init.body = formOf(body ?? {});
    } else if (body !== undefined) {
      headers['Content-Type'] = 'application/json';
      init.body = JSON.stringify(body);
    }
    return this.#send(pathOf(operation, parameters), init, answerOf);
  }

  /**
   * @template Result
   * @param {string} path
   * @param {RequestInit} init
   * @param {(success: Response) => Promise<Result>} read
   * @returns {Promise<Result>}
   */
  async #send(path, init, read) {
    let isRenewed = false;
    /** @type {unknown} after which the request may have been carried out */
    let unknown = null;
    for (let attempt = 1; ; attempt += 1) {
      const token = await this.session.token();
      try {
        return await this.#fetch(path, init, token, read);
      } catch (error) {
        if (error instanceof Refusal && error.status === 401 && !isRenewed) {
          isRenewed = true;
          await this.session.renew();
          continue;
        }
        unknown = isUnknown(error) ? error : unknown;
        const seconds = waitBefore(attempt, error, this.browser.random());
        if (seconds === null) {
          // a limit of requests says nothing about the attempts before
          throw error instanceof Refusal && error.status === 429 ? (unknown ?? error) : error;
        }
        await this.browser.wait(seconds * 1000);
      }
    }
  }

  /**
   * Send a request once. An answer that breaks off, or that something else than the service gave,
   * is none.
   *
   * @template Result
   * @param {string} path
   * @param {RequestInit} init
   * @param {string} token
   * @param {(success: Response) => Promise<Result>} read
   * @returns {Promise<Result>}
   */
  async #fetch(path, init, token, read) {
    const headers = { ...init.headers, Authorization: `Bearer ${token}` };
    let response;
    try {
      response = await this.browser.fetch(this.session.base + path, { ...init, headers });
      if (response.ok) {
        return await read(response);
      }
    } catch (error) {
      if (init.signal?.aborted) {
        throw error;
      }
      throw new NoAnswer(error);
    }
    throw await refusalOf(response);
  }
}

/** @param {object} body with its fields before its file, as the service reads them */
function formOf(body) {
  const form = new FormData();
  const entries = Object.entries(body);
  for (const [name, value] of entries.filter(([, value]) => !(value instanceof File))) {
    form.set(name, String(value));
  }
  for (const [name, value] of entries.filter(([, value]) => value instanceof File)) {
    form.set(name, value);
  }
  return form;
}

/** @param {Response} success */
async function answerOf(success) {
  const body = success.status === 204 ? undefined : await success.json();
  return { body, etag: success.headers.get('ETag'), date: success.headers.get('Date') };
}

/** @param {Response} success */
async function fileOf(success) {
  const content = await success.blob();
  const [, name = ''] = /filename="([^"]+)"/.exec(success.headers.get('Content-Disposition') ?? '') ?? [];
  return new File([content], name, { type: content.type });
}

/**
 * Return how long to wait before the next attempt, in seconds; null if there is none.
 *
 * @param {number} attempt number of the attempt that failed, from 1
 * @param {unknown} error
 * @param {number} random from 0 to 1
 * @returns {number | null}
 */
export function waitBefore(attempt, error, random) {
  const isRepeated = error instanceof NoAnswer || (error instanceof Refusal && isUndecided(error));
  if (!isRepeated || attempt >= ATTEMPTS) {
    return null;
  }
  const retryAfter = error instanceof Refusal ? error.retryAfter : null;
  const seconds = (retryAfter ?? 2 ** (attempt - 1)) + random;
  return seconds <= LONGEST_WAIT + 1 ? seconds : null;
}

/**
 * Return whether a refusal leaves open what became of the request, or asks to repeat it.
 *
 * @param {Refusal} refusal
 */
function isUndecided(refusal) {
  return refusal.status === 429 || isUnknown(refusal);
}

/**
 * @param {string} operation such as `GET /products/{id}`
 * @param {Parameters} parameters
 */
export function pathOf(operation, parameters) {
  const path = operation.slice(operation.indexOf(' ') + 1);
  return path.replace(/\{(\w+)\}/g, (_, name) => {
    const value = parameters[name];
    if (value === undefined) {
      throw new TypeError(`${operation} needs ${name}`);
    }
    return encodeURIComponent(value);
  });
}

/**
 * Return a query with its question mark; empty, null and undefined values are left out.
 *
 * @param {Query} query
 */
export function queryText(query) {
  const pairs = Object.entries(query).filter(([, value]) => value != null && value !== '');
  const text = new URLSearchParams(pairs.map(([name, value]) => [name, String(value)])).toString();
  return text && `?${text}`;
}

/**
 * What goes wrong in a call, as screens show it.
 */

/** @typedef {{field: string, message: string}} Problem A problem of one field of a request. */

/** An answer of the service that is no success. */
export class Refusal extends Error {
  /**
   * @param {number} status HTTP status
   * @param {string} code code of the error, such as `validation_failed`
   * @param {string} message sentence for people, in English
   * @param {object} [details]
   * @param {string | null} [details.requestId] id to quote to whoever runs the service
   * @param {Problem[]} [details.problems] all problems of the request
   * @param {number | null} [details.retryAfter] seconds to wait before a repetition
   * @param {Record<string, unknown>} [details.error] `error` of the envelope
   * @param {string | null} [details.date] when the service answered, by its clock
   */
  constructor(status, code, message, details = {}) {
    super(message);
    this.name = 'Refusal';
    this.status = status;
    this.code = code;
    this.requestId = details.requestId ?? null;
    this.problems = details.problems ?? [];
    this.retryAfter = details.retryAfter ?? null;
    this.error = details.error ?? {};
    this.date = details.date ?? null;
  }
}

/** No answer came: whether the service carried the request out is unknown. */
export class NoAnswer extends Error {
  /** @param {unknown} cause what the browser reported */
  constructor(cause) {
    super('No answer', { cause });
    this.name = 'NoAnswer';
  }
}

/** The modules of the version that the page runs are gone, after an update of the stack. */
export class Outdated extends Error {
  constructor() {
    super('The page is outdated');
    this.name = 'Outdated';
  }
}

/** The session ended; the person has to sign in again. */
export class SessionEnded extends Error {
  constructor() {
    super('The session ended');
    this.name = 'SessionEnded';
  }
}

/**
 * Return whether an error leaves open if the service carried the request out, as when a gateway
 * waits no longer for the service.
 *
 * @param {unknown} error
 */
export function isUnknown(error) {
  const isUndecided = (/** @type {Refusal} */ { status, code }) =>
    status >= 500 || code === 'duplicate_in_flight';
  return error instanceof NoAnswer || (error instanceof Refusal && isUndecided(error));
}

/**
 * Return whether an action was refused because somebody else changed the resource.
 *
 * @param {unknown} error
 */
export function isStale(error) {
  return error instanceof Refusal && error.code === 'stale_state';
}

/**
 * Return whether the person has no such list: its module is off, or the session is restricted.
 *
 * @param {unknown} error
 */
export function isNotOffered(error) {
  const is = (/** @type {Refusal} */ { status, code }) =>
    status === 403 || status === 404 || code === 'feature_not_in_plan';
  return error instanceof Refusal && is(error);
}

/**
 * Return the refusal of a response that is no success.
 *
 * API Gateway, a proxy or a captive portal may answer with something else than the envelope.
 *
 * @param {Response} response
 * @returns {Promise<Refusal>}
 */
export async function refusalOf(response) {
  const body = await response.json().catch(() => ({}));
  const error = isRecord(body) && isRecord(body.error) ? body.error : {};
  const problems = isRecord(body) && Array.isArray(body.errors) ? body.errors : [];
  const seconds = Number(response.headers.get('Retry-After') ?? NaN);
  return new Refusal(
    response.status,
    typeof error.code === 'string' ? error.code : `http_${response.status}`,
    typeof error.message === 'string' ? error.message : response.statusText || `HTTP ${response.status}`,
    {
      requestId: response.headers.get('X-Request-Id') ?? textOf(error.request_id),
      problems: problems.filter(isProblem),
      retryAfter: Number.isFinite(seconds) ? seconds : null,
      error,
      date: response.headers.get('Date'),
    },
  );
}

/**
 * @param {unknown} value
 * @returns {value is Record<string, unknown>}
 */
function isRecord(value) {
  return typeof value === 'object' && value !== null;
}

/**
 * @param {unknown} value
 * @returns {value is Problem}
 */
function isProblem(value) {
  return isRecord(value) && typeof value.field === 'string' && typeof value.message === 'string';
}

/** @param {unknown} value */
function textOf(value) {
  return typeof value === 'string' ? value : null;
}

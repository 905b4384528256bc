/**
 * Writes of one action, one after the other.
 */

/**
 * Return a function that sends bodies in turn, each with the ETag that the one before left. Called again
 * after one that was not carried out, it goes on with that one.
 *
 * @template Body
 * @param {readonly Body[]} bodies
 * @param {string | null} etag before the first one; null if it does not matter
 * @returns {(carryOut: (body: Body, etag: string | null) => Promise<any>) => Promise<any>} `carryOut`
 *   returns null if there is an error; then the result is null, else the last answer
 */
export function inTurn(bodies, etag) {
  let at = 0;
  let ifMatch = etag;
  /** @type {any} */
  let answer = null;
  return async (carryOut) => {
    while (at < bodies.length) {
      answer = await carryOut(/** @type {Body} */ (bodies[at]), ifMatch);
      if (answer === null) {
        return null;
      }
      ifMatch = answer.etag;
      at += 1;
    }
    return answer;
  };
}

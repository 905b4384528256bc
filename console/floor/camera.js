/** Which of the codes that a camera sees are scans. */

/** Milliseconds between two looks. */
const INTERVAL = 150;

/** Milliseconds out of sight after which a code is another scan: a label in view is one scan. */
const AWAY = 2000;

/** Looks that may fail one after the other, as while the picture begins or the device is busy. */
const FAILURES = 20;

/**
 * Report the codes that come into sight, until the camera is closed.
 *
 * @param {object} camera
 * @param {() => Promise<string | undefined>} camera.look reads a code that is in sight
 * @param {(text: string) => void} camera.report
 * @param {AbortSignal} camera.ended
 * @param {(milliseconds: number) => Promise<unknown>} camera.wait
 * @param {() => number} [camera.now] milliseconds that only grow
 * @throws {unknown} why the camera reads nothing any more
 */
export async function watch({ look, report, ended, wait, now = () => performance.now() }) {
  /** @type {Map<string, number>} code → when it was seen last */
  const seen = new Map();
  for (let failures = 0; !ended.aborted; await wait(INTERVAL)) {
    try {
      const text = await look();
      failures = 0;
      if (text !== undefined && !ended.aborted) {
        const isNew = now() - (seen.get(text) ?? -Infinity) > AWAY;
        seen.set(text, now());
        if (isNew) {
          report(text);
        }
      }
    } catch (error) {
      failures += 1;
      if (failures > FAILURES) {
        throw error;
      }
    }
  }
}

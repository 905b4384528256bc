/** Brings each scan, from wherever it comes, to the screen that is shown. */

import { signal } from '../vendor/signals-core.js';
import { useLayoutEffect } from '../vendor/hooks.js';
import { soundRight, soundWrong } from './feedback.js';
import { say } from './words.js';

/** @typedef {{isRight: boolean, text: string}} Result what a screen says about a scan */

/** What the last scan gave; null before the first one of a screen. */
export const result = signal(/** @type {Result | null} */ (null));

/** @type {((text: string) => void | Promise<void>) | null} */
let taker = null;

/** Scans are taken one after the other, however fast they come. */
let queue = Promise.resolve();

/**
 * Do something after the scans that came before it.
 *
 * @param {() => unknown} work
 */
export function inTurn(work) {
  queue = queue.then(() => work()).then(() => undefined, failed);
}

/** @param {unknown} error why something was not done, such as a storage that is full */
export function failed(error) {
  wrong(failureOf(error));
}

/** @param {unknown} error */
function failureOf(error) {
  const isOfStorage = error instanceof DOMException;
  if (isOfStorage && error.name === 'QuotaExceededError') {
    return say('storage_full');
  }
  return say(isOfStorage ? 'storage_failed' : 'not_done', { error: String(error) });
}

/** @param {string} text of a scan; one that no screen takes is heard as wrong */
export function scanned(text) {
  inTurn(() => (taker ?? soundWrong)(text));
}

/**
 * Take the scans while a screen is shown: from its first moment on, so not in an effect after it.
 *
 * @param {(text: string) => void | Promise<void>} take
 */
export function useScans(take) {
  useLayoutEffect(() => {
    result.value = null;
  }, []);
  useLayoutEffect(() => {
    taker = take;
    return () => {
      taker = taker === take ? null : taker;
    };
  });
}

/** @param {string} text */
export function right(text) {
  result.value = { isRight: true, text };
  soundRight();
}

/** @param {string} text */
export function wrong(text) {
  result.value = { isRight: false, text };
  soundWrong();
}

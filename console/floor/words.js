/** The words of the floor, which the console does not load. */

import { filled, language } from '../core/words.js';
import { signal } from '../vendor/signals-core.js';

/** @typedef {typeof import('../words/floor_en.js').default} Words */

const words = signal(/** @type {Words} */ ({}));

/** Load the words in the language of the console. */
export async function loadWords() {
  words.value = (await import(`../words/floor_${language.value}.js`)).default;
}

/**
 * @param {keyof Words} key
 * @param {Record<string, string | number>} [values]
 */
export function say(key, values) {
  return filled(words.value[key], values);
}

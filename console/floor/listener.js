/**
 * Tells scans from typing. A scanner types like a keyboard, but faster than people, and ends with
 * Enter. Whatever has the focus, a scan is taken from there and reported.
 */

/**
 * Milliseconds after which what was typed before has nothing to do with a scan. Within them it counts
 * as a part of it: a code that is too long is unknown, one that lost its beginning may be another one.
 */
const PAUSE = 500;

/** Most milliseconds that a character of a scanner takes on average, also of one by Bluetooth. */
const FASTEST = 50;

/** Fewest characters of a scan; people press fewer keys at this speed by accident. */
const SHORTEST = 3;

/** Most characters that are kept of a scan: no code has more. */
const LONGEST = 2000;

export class Listener {
  #text = '';
  #began = 0;
  #last = 0;
  /** @type {{field: HTMLInputElement | HTMLTextAreaElement, value: string} | null} */
  #before = null;

  /** @param {(text: string) => void} report */
  constructor(report) {
    this.report = report;
  }

  /**
   * Take a key that was pressed.
   *
   * @param {KeyboardEvent} event
   */
  press(event) {
    const isNext = event.timeStamp - this.#last <= PAUSE;
    this.#last = event.timeStamp;
    if (event.key === 'Enter') {
      const text = isNext ? this.#text : '';
      const isFast = event.timeStamp - this.#began <= FASTEST * text.length;
      this.#text = '';
      if (isFast && text.length >= SHORTEST) {
        event.preventDefault();
        event.stopPropagation();
        this.#restore();
        this.report(text);
      } else if (text !== '' && !isWriting(event.target)) {
        event.preventDefault(); // the end of a scan that came slowly presses no button
      }
      return;
    }
    const character = characterOf(event);
    if (character === null) {
      return;
    }
    if (!isNext || this.#text === '') {
      this.#text = '';
      this.#began = event.timeStamp;
      this.#before = fieldOf(event.target);
    }
    this.#text = (this.#text + character).slice(0, LONGEST);
    const isSpaceOnButton = character === ' ' && this.#text !== ' ' && !isWriting(event.target);
    if (character === '\u001d' || isSpaceOnButton) {
      event.preventDefault(); // FNC1 comes as Ctrl and ], which browsers may have a use for
    }
  }

  /** Take the characters of a scan out of the field that had the focus. */
  #restore() {
    if (this.#before) {
      const { field, value } = this.#before;
      field.value = value;
      field.dispatchEvent(new Event('input', { bubbles: true }));
      this.#before = null;
    }
  }
}

/**
 * @param {KeyboardEvent} event
 * @returns {string | null} null for keys that write nothing
 */
function characterOf({ key, ctrlKey, altKey, metaKey }) {
  if (ctrlKey) {
    return key === ']' ? '\u001d' : null;
  }
  return key.length === 1 && !altKey && !metaKey ? key : null;
}

/** @param {EventTarget | null} target whether it is a field that shows characters: a space presses others */
function isWriting(target) {
  return typeof (/** @type {HTMLInputElement | null} */ (target)?.selectionStart) === 'number';
}

/** @param {EventTarget | null} target */
function fieldOf(target) {
  const field = /** @type {HTMLInputElement | null} */ (target);
  return typeof field?.value === 'string' ? { field, value: field.value } : null;
}

/** What people hear and feel of a scan, who do not look at the screen. */

/** @type {AudioContext | undefined} */
let audio;

/**
 * @param {number} frequency in hertz
 * @param {number} seconds
 */
function tone(frequency, seconds) {
  try {
    audio ??= new AudioContext();
    const sound = new OscillatorNode(audio, { frequency, type: 'square' });
    const volume = new GainNode(audio, { gain: 0.2 });
    sound.connect(volume).connect(audio.destination);
    sound.start();
    sound.stop(audio.currentTime + seconds);
  } catch {
    // a device without sound
  }
}

/** Right: high and short. */
export function soundRight() {
  tone(1760, 0.08);
  globalThis.navigator?.vibrate?.(40);
}

/** Wrong: low, and a long vibration. */
export function soundWrong() {
  tone(196, 0.5);
  globalThis.navigator?.vibrate?.(600);
}

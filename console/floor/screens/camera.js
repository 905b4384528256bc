/** The camera as a scanner, where the browser reads codes itself. */

import { useEffect, useRef, useState } from '../../vendor/hooks.js';
import { h } from '../../vendor/preact.js';
import { scanned } from '../scanning.js';
import { say } from '../words.js';

/** Milliseconds between two looks. */
const INTERVAL = 150;

/** Milliseconds for which the same code is not read again. */
const REST = 2000;

/**
 * @param {object} props
 * @param {() => void} props.onClose
 */
export function Camera({ onClose }) {
  const video = useRef(/** @type {HTMLVideoElement | null} */ (null));
  const [problem, setProblem] = useState('');
  useEffect(() => {
    const ended = new AbortController();
    look(video.current, ended.signal).catch(() => {
      if (!ended.signal.aborted) {
        setProblem(say('no_camera'));
      }
    });
    return () => ended.abort();
  }, []);
  return h('div', { class: 'camera' }, [
    problem ? h('p', { class: 'notice', role: 'alert' }, problem) : h('video', { ref: video, muted: true, playsInline: true }),
    h('button', { type: 'button', onClick: onClose }, say('close_camera')),
  ]);
}

/**
 * Report the codes that the camera sees.
 *
 * @param {HTMLVideoElement | null} video
 * @param {AbortSignal} ended
 * @throws {Error} no camera, no permission, or a browser that reads no codes
 */
async function look(video, ended) {
  const detector = new /** @type {any} */ (globalThis).BarcodeDetector();
  const stream = await navigator.mediaDevices.getUserMedia({ video: { facingMode: 'environment' } });
  const stop = () => stream.getTracks().forEach((track) => track.stop());
  ended.addEventListener('abort', stop);
  if (ended.aborted || video === null) {
    stop();
    return;
  }
  video.srcObject = stream;
  await video.play();
  let last = { text: '', at: 0 };
  while (!ended.aborted) {
    const [code] = await detector.detect(video);
    const isNew = code && (code.rawValue !== last.text || Date.now() - last.at > REST);
    if (isNew) {
      last = { text: code.rawValue, at: Date.now() };
      scanned(code.rawValue);
    }
    await new Promise((resolve) => setTimeout(resolve, INTERVAL));
  }
}

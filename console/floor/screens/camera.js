/** The camera as a scanner. */

import { browser } from '../../core/app.js';
import { NoAnswer, Outdated } from '../../core/refusal.js';
import { useEffect, useRef, useState } from '../../vendor/hooks.js';
import { h } from '../../vendor/preact.js';
import { Notice } from '../../components/notice.js';
import { watch } from '../camera.js';
import { newDetector } from '../detector.js';
import { scanned } from '../scanning.js';
import { say } from '../words.js';

/** Of its pictures: the narrow bars of a label are a pixel at least. */
const SIZE = { width: { ideal: 1280 }, height: { ideal: 720 } };

/**
 * @param {object} props
 * @param {() => void} props.onClose
 */
export function Camera({ onClose }) {
  const video = useRef(/** @type {HTMLVideoElement | null} */ (null));
  const [error, setError] = useState(/** @type {unknown} */ (null));
  useEffect(() => {
    const ended = new AbortController();
    show(video.current, ended.signal).catch((failure) => {
      if (!ended.signal.aborted) {
        ended.abort(); // the camera is free for others
        setError(failure);
      }
    });
    return () => ended.abort();
  }, []);
  const isUnloaded = error instanceof NoAnswer || error instanceof Outdated;
  return h('div', { class: 'camera' }, [
    error === null
      ? h('video', { ref: video, muted: true, playsInline: true })
      : isUnloaded
        ? h(Notice, { error })
        : h('p', { class: 'notice', role: 'alert' }, say('no_camera')),
    h('button', { type: 'button', onClick: onClose }, say('close_camera')),
  ]);
}

/**
 * Show what the camera sees, and take the codes in it as scans.
 *
 * @param {HTMLVideoElement | null} video
 * @param {AbortSignal} ended
 * @throws {unknown} no camera, no permission, or nothing that reads codes
 */
async function show(video, ended) {
  const read = await newDetector();
  const stream = await navigator.mediaDevices.getUserMedia({ video: { facingMode: 'environment', ...SIZE } });
  const stop = () => stream.getTracks().forEach((track) => track.stop());
  ended.addEventListener('abort', stop);
  if (ended.aborted || video === null) {
    stop();
    return;
  }
  video.srcObject = stream;
  await video.play();
  const look = async () => {
    if (!stream.active) {
      throw new TypeError('the camera was taken away');
    }
    return read(video);
  };
  await watch({ look, report: scanned, ended, wait: browser.wait });
}

/** Reads a code from a picture: with the browser, or with a library where the browser reads none. */

import { browser } from '../core/app.js';
import { imported } from '../core/use.js';

/** What labels of goods and places have; a browser that does not read all of them reads none. */
const FORMATS = ['code_128', 'data_matrix', 'ean_13', 'qr_code'];

/** Their names in the library, with those of older labels. */
const READ = /** @type {const} */ ([
  'Code128', 'Code39', 'DataBar', 'DataBarExp', 'DataMatrix', 'EAN13', 'EAN8', 'ITF', 'QRCode', 'UPCA', 'UPCE',
]);

/**
 * @returns {Promise<(video: HTMLVideoElement) => Promise<string | undefined>>} what reads a code that a
 *   video shows
 * @throws {import('../core/refusal.js').NoAnswer | import('../core/refusal.js').Outdated} the library
 *   cannot be loaded
 */
export async function newDetector() {
  const { BarcodeDetector } = /** @type {any} */ (globalThis);
  const formats = (await BarcodeDetector?.getSupportedFormats()) ?? [];
  if (!FORMATS.every((one) => formats.includes(one))) {
    return libraryDetector();
  }
  const detector = new BarcodeDetector();
  return async (video) => (await detector.detect(video))[0]?.rawValue;
}

async function libraryDetector() {
  const [{ prepareZXingModule, readBarcodes }, wasmBinary] = await imported(() =>
    Promise.all([import('../vendor/zxing-reader.js'), loaded(new URL('../vendor/zxing-reader.wasm', import.meta.url))]),
  );
  await prepareZXingModule({ overrides: { wasmBinary }, fireImmediately: true });
  const canvas = document.createElement('canvas');
  const context = canvas.getContext('2d', { willReadFrequently: true });
  return async (/** @type {HTMLVideoElement} */ video) => {
    const { videoWidth: width, videoHeight: height } = video;
    if (context === null || width === 0) {
      return undefined;
    }
    Object.assign(canvas, { width, height });
    context.drawImage(video, 0, 0);
    const picture = context.getImageData(0, 0, width, height);
    const [code] = await readBarcodes(picture, { formats: [...READ], maxNumberOfSymbols: 1, textMode: 'Plain' });
    return code && labelOf(code);
  };
}

/**
 * Return a code as a scanner sends it: that of GS1 with the name of its symbology, and with FNC1.
 *
 * @param {Pick<import('../vendor/zxing-reader.js').ReadResult, 'contentType' | 'symbologyIdentifier' | 'text'>} code
 */
export function labelOf({ contentType, symbologyIdentifier, text }) {
  return contentType === 'GS1' ? symbologyIdentifier + text : text;
}

/** @param {URL} address */
async function loaded(address) {
  const answer = await browser.fetch(address);
  if (!answer.ok) {
    throw new TypeError(`${address} is missing`);
  }
  return answer.arrayBuffer();
}

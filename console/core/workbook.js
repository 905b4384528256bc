/**
 * The rows of a sheet of a workbook (.xlsx), for the error reports of imports.
 *
 * A workbook is a ZIP archive of XML files. The browser inflates and parses both.
 */

const END_OF_DIRECTORY = 0x06054b50;
const DEFLATED = 8;

/**
 * @param {ArrayBuffer} content
 * @param {number} [number] of the sheet, from 1
 * @returns {Promise<string[][]>}
 */
export async function readRows(content, number = 1) {
  const entries = entriesOf(content);
  const shared = await parsed(entries, 'xl/sharedStrings.xml');
  const sheet = await parsed(entries, `xl/worksheets/sheet${number}.xml`);
  const strings = shared === null ? [] : [...shared.getElementsByTagName('si')].map(textOf);
  return [...(sheet?.getElementsByTagName('row') ?? [])].map((row) => {
    /** @type {string[]} */
    const cells = [];
    for (const cell of row.getElementsByTagName('c')) {
      cells[columnOf(cell.getAttribute('r') ?? '', cells.length)] = valueOf(cell, strings);
    }
    return Array.from(cells, (value) => value ?? '');
  });
}

/**
 * @param {Map<string, Uint8Array<ArrayBuffer> | Promise<Uint8Array<ArrayBuffer>>>} entries
 * @param {string} name
 */
async function parsed(entries, name) {
  const bytes = await entries.get(name);
  if (bytes === undefined) {
    return null;
  }
  return new DOMParser().parseFromString(new TextDecoder().decode(bytes), 'application/xml');
}

/**
 * Return the content of each file of a ZIP archive.
 *
 * @param {ArrayBuffer} content
 * @returns {Map<string, Uint8Array<ArrayBuffer> | Promise<Uint8Array<ArrayBuffer>>>}
 */
export function entriesOf(content) {
  const view = new DataView(content);
  let end = content.byteLength - 22;
  while (end >= 0 && view.getUint32(end, true) !== END_OF_DIRECTORY) {
    end -= 1;
  }
  if (end < 0) {
    throw new TypeError('This is no workbook.');
  }
  const found = new Map();
  let at = view.getUint32(end + 16, true);
  for (let count = view.getUint16(end + 10, true); count > 0; count -= 1) {
    const [size, nameSize] = [view.getUint32(at + 20, true), view.getUint16(at + 28, true)];
    const others = view.getUint16(at + 30, true) + view.getUint16(at + 32, true);
    const start = view.getUint32(at + 42, true);
    const name = new TextDecoder().decode(new Uint8Array(content, at + 46, nameSize));
    const data = start + 30 + view.getUint16(start + 26, true) + view.getUint16(start + 28, true);
    const bytes = new Uint8Array(content, data, size);
    found.set(name, view.getUint16(at + 10, true) === DEFLATED ? inflated(bytes) : bytes);
    at += 46 + nameSize + others;
  }
  return found;
}

/** @param {Uint8Array<ArrayBuffer>} bytes */
async function inflated(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/**
 * @param {Element} cell
 * @param {readonly string[]} strings
 */
function valueOf(cell, strings) {
  const value = cell.getElementsByTagName('v')[0]?.textContent ?? '';
  switch (cell.getAttribute('t')) {
    case 's':
      return strings[Number(value)] ?? '';
    case 'inlineStr':
      return textOf(cell);
    default:
      return value;
  }
}

/** @param {Element} element */
function textOf(element) {
  return [...element.getElementsByTagName('t')].map((part) => part.textContent).join('');
}

/**
 * Return the number of a column, from 0: `C7` is 2.
 *
 * @param {string} reference
 * @param {number} next the column after the one before
 */
export function columnOf(reference, next) {
  const letters = /^[A-Z]+/.exec(reference)?.[0];
  if (letters === undefined) {
    return next;
  }
  return [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1;
}

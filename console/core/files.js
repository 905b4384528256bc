/** Files that a person saves or looks at. */

/** Milliseconds for which a tab may still load its file. */
const KEPT = 60_000;

/**
 * Save a file, or show it in a tab of its own. Browsers open no tab some seconds after a click, as
 * when the file came slowly: then it is saved.
 *
 * @param {Blob} content
 * @param {string} name
 * @param {{isShown?: boolean}} [options]
 */
export function saveFile(content, name, { isShown = false } = {}) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  if (isShown && navigator.userActivation.isActive) {
    link.target = '_blank';
  } else {
    link.download = name;
  }
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), KEPT);
}

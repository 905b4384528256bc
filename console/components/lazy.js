/**
 * A screen whose module is loaded when it is first shown.
 */

import { text } from '../core/words.js';
import { imported, useLoaded } from '../core/use.js';
import { h } from '../vendor/preact.js';
import { Notice } from './notice.js';

/**
 * @param {object} props
 * @param {() => Promise<Record<string, any>>} props.load imports the module
 * @param {string} props.name of the component in it
 * @param {Record<string, unknown>} props.props
 */
export function Lazy({ load, name, props }) {
  const { result, error, reload } = useLoaded(name, () => imported(load));
  if (error) {
    return h(Notice, { error, onRetry: reload });
  }
  const found = result?.[name];
  return found === undefined ? h('p', { class: 'quiet' }, text('loading')) : h(found, props);
}

/**
 * A screen whose module is loaded when it is first shown.
 */

import { text } from '../core/words.js';
import { useLoaded } from '../core/use.js';
import { h } from '../vendor/preact.js';

/**
 * @param {object} props
 * @param {() => Promise<Record<string, any>>} props.load imports the module
 * @param {string} props.name of the component in it
 * @param {Record<string, unknown>} props.props
 */
export function Lazy({ load, name, props }) {
  const { result, error } = useLoaded(name, load);
  if (error) {
    // after an update of the stack, the modules of the version that this page runs are gone
    return h('p', { class: 'notice', role: 'alert' }, [
      text('new_version'),
      h('button', { type: 'button', onClick: () => location.reload() }, text('reload')),
    ]);
  }
  const found = result?.[name];
  return found === undefined ? h('p', { class: 'quiet' }, text('loading')) : h(found, props);
}

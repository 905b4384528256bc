/**
 * How screens carry out what a person asks for.
 */

import { useRef, useState } from '../vendor/hooks.js';
import { calls, newAction } from './app.js';
import { isUnknown } from './refusal.js';

/**
 * Carry a write of the interface out, for the whole life of a form or a button.
 *
 * @returns {{
 *   isBusy: boolean,
 *   isOpen: boolean,
 *   error: unknown,
 *   carryOut: (operation: string, parameters: Record<string, string | number>, body?: unknown,
 *     etag?: string | null) => Promise<any>,
 * }} `carryOut` returns the answer, or null if there is an error; `isOpen`: whether it is not
 *   known what became of the last request, so that only the same request may be sent again
 */
export function useAction() {
  const action = useRef(/** @type {import('./calls.js').Action | null} */ (null));
  action.current ??= newAction();
  const [state, setState] = useState({ isBusy: false, error: /** @type {unknown} */ (null) });
  const { current } = action;
  return {
    ...state,
    isOpen: isUnknown(state.error) && current.isOpen,
    carryOut: async (operation, parameters, body, etag = null) => {
      setState({ isBusy: true, error: null });
      try {
        const name = /** @type {keyof import('../types/operations.js').Operations} */ (operation);
        const result = await current.run((key) =>
          calls.write(name, { key, parameters, body: /** @type {any} */ (body), etag }),
        );
        setState({ isBusy: false, error: null });
        return result;
      } catch (error) {
        setState({ isBusy: false, error });
        return null;
      }
    },
  };
}

/**
 * How screens load what they show.
 */

import { useEffect, useRef, useState } from '../vendor/hooks.js';
import { browser, CONSOLE, session } from './app.js';
import { NoAnswer, Outdated, SessionEnded } from './refusal.js';

/**
 * @template Result
 * @typedef {object} Loaded
 * @property {Result | null} result the last one, also while the next one is loaded
 * @property {unknown} error
 * @property {boolean} isLoading
 * @property {() => void} reload
 * @property {() => void} refresh reload without a sign of it: what fails changes nothing
 */

/**
 * Load something, and again when the key changes, or after the sign-in that an ended session needs.
 * What an earlier key asked for is stopped.
 *
 * @template Result
 * @param {string} key
 * @param {(signal: AbortSignal) => Promise<Result>} load
 * @returns {Loaded<Result>}
 */
export function useLoaded(key, load) {
  const [state, setState] = useState(
    /** @type {{result: Result | null, error: unknown, isLoading: boolean}} */ ({
      result: null,
      error: null,
      isLoading: true,
    }),
  );
  const [round, setRound] = useState(0);
  const isEnded = session.isEnded.value;
  useEffect(() => {
    if (!isEnded && state.error instanceof SessionEnded) {
      setRound((before) => before + 1);
    }
  }, [isEnded]);
  const latest = useRef(load);
  latest.current = load;
  const refreshing = useRef(/** @type {AbortController | null} */ (null));
  useEffect(() => {
    const stop = new AbortController();
    refreshing.current?.abort();
    setState((before) => ({ ...before, isLoading: true }));
    latest.current(stop.signal).then(
      (result) => {
        if (!stop.signal.aborted) {
          setState({ result, error: null, isLoading: false });
        }
      },
      (error) => {
        if (!stop.signal.aborted) {
          setState((before) => ({ ...before, error, isLoading: false }));
        }
      },
    );
    return () => {
      stop.abort();
      refreshing.current?.abort();
    };
  }, [key, round]);
  const refresh = () => {
    if (state.isLoading) {
      return;
    }
    refreshing.current?.abort();
    const stop = new AbortController();
    refreshing.current = stop;
    latest.current(stop.signal).then(
      (result) => !stop.signal.aborted && setState({ result, error: null, isLoading: false }),
      () => undefined,
    );
  };
  return { ...state, reload: () => setRound((before) => before + 1), refresh };
}

/** Milliseconds after which a screen that somebody returns to is old. */
const OLD = 5000;

/**
 * Refresh what a screen shows from time to time while it is in sight, and when somebody returns to it;
 * not while a dialog is open.
 *
 * @param {() => void} refresh
 * @param {number} pause milliseconds
 */
export function useRefresh(refresh, pause) {
  const latest = useRef(refresh);
  latest.current = refresh;
  useEffect(() => {
    let last = Date.now();
    /** @param {number} age milliseconds */
    const look = (age) => {
      const isSeen = document.visibilityState === 'visible' && document.querySelector('dialog[open]') === null;
      if (isSeen && Date.now() - last >= age) {
        last = Date.now();
        latest.current();
      }
    };
    const timer = setInterval(() => look(0), pause);
    const onReturn = () => look(OLD);
    document.addEventListener('visibilitychange', onReturn);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', onReturn);
    };
  }, []);
}

/**
 * Import a module.
 *
 * @template Module
 * @param {() => Promise<Module>} load
 * @returns {Promise<Module>}
 * @throws {Outdated | NoAnswer}
 */
export async function imported(load) {
  try {
    return await load();
  } catch (error) {
    const page = browser.fetch(CONSOLE, { method: 'HEAD', cache: 'no-store' });
    throw await page.then(() => new Outdated(), () => new NoAnswer(error));
  }
}

/**
 * Import the description of a subject.
 *
 * @param {string} name first part of its paths
 * @returns {Promise<import('./subject.js').Interface>}
 */
export async function loadInterface(name) {
  return (await imported(() => import(`../interface/${name}.js`))).default;
}

/**
 * Import what the interface has for a subject, with the writes of others that it offers, such as a
 * receipt for a document.
 *
 * @param {import('./subject.js').Subject} subject
 * @returns {Promise<import('./subject.js').Interface>}
 */
export async function loadDescription({ name, parent, create, more = [], actions = [], together = [] }) {
  const own = parent ?? name;
  const operations = [create, ...more, ...[...actions, ...together].map(({ operation }) => operation)];
  const names = operations.map((operation) => operation?.split('/')[1]?.split(' ')[0] ?? own);
  const others = [...new Set(names)].filter((one) => one !== own);
  const [first, ...rest] = await Promise.all([own, ...others].map(loadInterface));
  const { lists = {}, details = {} } = first ?? {};
  return { lists, details, actions: Object.assign({}, ...rest.map((one) => one.actions), first?.actions) };
}

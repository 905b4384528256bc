/** The start of the console. */

import './vendor/signals.js'; // components follow the signals that they read

import { browser, CONSOLE, session } from './core/app.js';
import { followAddress } from './core/address.js';
import { forgetDrafts } from './core/kept.js';
import { chosenLanguage, useLanguage } from './core/words.js';
import { h, render } from './vendor/preact.js';
import { Shell } from './components/shell.js';

const root = document.documentElement;
root.dataset.theme = localStorage.getItem('stowage.theme') ?? '';
root.lang = chosenLanguage(localStorage, navigator.languages);

const [{ claimTab, shareSession }] = await Promise.all([
  import('./core/tabs.js'),
  useLanguage(chosenLanguage(localStorage, navigator.languages)),
]);
await claimTab(browser);
const refused = await shareSession(session, browser, () => {
  forgetDrafts(sessionStorage);
  location.assign(CONSOLE); // nothing of the session stays in memory
}).then(() => null, (error) => error);

followAddress(CONSOLE);
render(h(Shell, { refused }), document.getElementById('console') ?? document.body);

/** The start of the console. */

import './vendor/signals.js'; // components follow the signals that they read

import { CONSOLE, calls, session, timeZone } from './core/app.js';
import { followAddress } from './core/address.js';
import { chosenLanguage, useLanguage } from './core/words.js';
import { effect } from './vendor/signals-core.js';
import { h, render } from './vendor/preact.js';
import { Shell } from './components/shell.js';

const root = document.documentElement;
root.dataset.theme = localStorage.getItem('stowage.theme') ?? '';
root.lang = chosenLanguage(localStorage, navigator.languages);

await useLanguage(chosenLanguage(localStorage, navigator.languages));
if (session.canContinue) {
  await session.renew().catch(() => undefined); // without a session, the page asks for a sign-in
}

effect(() => {
  if (session.user.value?.permissions.has('users.manage')) {
    calls.read('GET /settings').then(
      ({ body }) => {
        timeZone.value = body.data.timezone;
      },
      () => undefined, // times are shown in the zone of the browser
    );
  }
});

followAddress(CONSOLE);
render(h(Shell, {}), document.getElementById('console') ?? document.body);

/** The start of the floor. */

import '../vendor/signals.js'; // components follow the signals that they read

import { CONSOLE, session } from '../core/app.js';
import { followAddress } from '../core/address.js';
import { chosenLanguage, useLanguage } from '../core/words.js';
import { h, render } from '../vendor/preact.js';
import { Floor } from './screens/shell.js';
import { boundRequests, continueSession, followSession, holdSession, openFloor } from './state.js';
import { keepUpdated } from './updates.js';
import { loadWords } from './words.js';

const root = document.documentElement;
root.dataset.theme = localStorage.getItem('stowage.theme') ?? '';
root.lang = chosenLanguage(localStorage, navigator.languages);

await useLanguage(chosenLanguage(localStorage, navigator.languages));
await loadWords();
holdSession();
boundRequests();
const broken = await openFloor().then(() => null, (error) => error);
const refused = broken === null && session.canContinue ? await continueSession() : null;
followSession();
keepUpdated();

followAddress(CONSOLE);
render(h(Floor, { broken, refused }), document.getElementById('floor') ?? document.body);

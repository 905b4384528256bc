/**
 * The frame of all screens: menu, account, messages, and the sign-in where it is needed.
 */

import { calls, isPermitted, messages, permissions, say, session } from '../core/app.js';
import { address, href } from '../core/address.js';
import { forgetDrafts } from '../core/kept.js';
import { forgetFilters } from '../core/remembered.js';
import { imported, useLoaded } from '../core/use.js';
import { LANGUAGES, language, rememberLanguage, subjectLabel, text, useLanguage } from '../core/words.js';
import { SUBJECT, SUBJECTS } from '../subjects.js';
import { useEffect, useState } from '../vendor/hooks.js';
import { Component, h } from '../vendor/preact.js';
import { Home } from '../screens/home.js';
import { SignIn } from '../screens/sign_in.js';
import { Dialog } from './dialog.js';
import { Lazy } from './lazy.js';
import { errorText, Notice } from './notice.js';
import { Title } from './title.js';

const GROUPS = /** @type {const} */ ([
  'oversight',
  'inbound',
  'outbound',
  'moving',
  'stock',
  'catalog',
  'setup',
]);

/**
 * @param {object} props
 * @param {unknown} props.refused why the session of the tab does not continue
 */
export function Shell({ refused }) {
  const user = session.user.value;
  if (user === null) {
    return h('main', { class: 'front' }, [
      h('h1', {}, text('product')),
      h(SignIn, { refused }),
      h(Choices, {}),
    ]);
  }
  return h('div', { class: 'shell' }, [
    h('button', { type: 'button', class: 'skip', onClick: focusContent }, text('skip')),
    h('header', { class: 'top' }, [
      h('a', { href: href([]) }, text('product')),
      h(Person, { user }),
      h(Lazy, { load: () => import('./find.js'), name: 'Find', props: { subjects: readableSubjects() } }),
      h(Choices, {}),
      h('button', { type: 'button', onClick: signOut }, text('sign_out')),
    ]),
    h(Menu, {}),
    h('main', { id: 'content', tabIndex: -1 }, [
      user.isRestricted &&
        h('div', { class: 'notice' }, [
          h('p', {}, text('restricted')),
          h('button', { type: 'button', onClick: signOut }, text('sign_in_with_code')),
        ]),
      h(Boundary, { key: address.value.path.join('/') }, h(Screen, {})),
    ]),
    session.isEnded.value &&
      h(Dialog, { title: text('session_ended'), onClose: () => undefined, isFixed: true }, [
        h(SignIn, { refused: null }),
      ]),
    h(
      'div',
      { class: 'messages', role: 'status' },
      messages.value.map((message) => h('p', { key: message.id }, message.text)),
    ),
  ]);
}

/**
 * Who is signed in, and for which company; the name is read, because a token has none.
 *
 * @param {object} props
 * @param {import('../core/session.js').SignedIn} props.user
 */
function Person({ user }) {
  const { result } = useLoaded(`person ${user.tenant} ${user.userId} ${user.isRestricted}`, async (signal) => {
    if (user.isRestricted) {
      return null;
    }
    const { body } = await calls.read('GET /users/{id}', { parameters: { id: 'me' }, signal });
    return body.data;
  });
  return h('span', {}, [result?.name, user.tenant].filter(Boolean).join(' · '));
}

function focusContent() {
  document.getElementById('content')?.focus();
}

async function signOut() {
  forgetDrafts(sessionStorage);
  forgetFilters(localStorage, session.owner);
  await session.signOut();
  location.assign(document.baseURI); // nothing of the session stays in memory
}

/** The subjects that the person may read. */
function readableSubjects() {
  const isRestricted = session.user.value?.isRestricted;
  return SUBJECTS.filter(({ name, permission = null }) =>
    isRestricted ? name === 'products' : isPermitted(permission),
  );
}

function Menu() {
  const here = address.value.path[0];
  const [isOpen, setOpen] = useState(false); // on narrow screens only
  useEffect(() => setOpen(false), [address.value]);
  const isRestricted = session.user.value?.isRestricted;
  const visible = readableSubjects();
  return h('nav', { class: isOpen ? 'menu open' : 'menu', 'aria-label': text('menu') }, [
    h(
      'button',
      { type: 'button', class: 'toggle', 'aria-expanded': isOpen, onClick: () => setOpen(!isOpen) },
      `☰ ${text('menu')}`,
    ),
    h(MenuLink, { path: [], label: text('home'), isHere: here === undefined }),
    !isRestricted &&
      h(MenuLink, { path: ['account'], label: text('account'), isHere: here === 'account' }),
    !isRestricted && h(MenuLink, { path: ['map'], label: subjectLabel('map'), isHere: here === 'map' }),
    permissions().has('users.manage') &&
      h(MenuLink, { path: ['settings'], label: subjectLabel('settings'), isHere: here === 'settings' }),
    ...GROUPS.filter((one) => visible.some(({ group }) => group === one)).map((group) =>
      h('section', { key: group }, [
        h('h2', {}, groupLabel(group)),
        ...visible
          .filter((subject) => subject.group === group && (subject.parent ?? subject.from) === undefined)
          .map(({ name }) =>
            h(MenuLink, { key: name, path: [name], label: subjectLabel(name), isHere: here === name }),
          ),
        group === 'moving' &&
          h(MenuLink, {
            path: ['replenishments'],
            label: subjectLabel('replenishments'),
            isHere: here === 'replenishments',
          }),
      ]),
    ),
  ]);
}

/**
 * @param {object} props
 * @param {readonly string[]} props.path
 * @param {string} props.label
 * @param {boolean} props.isHere
 */
function MenuLink({ path, label, isHere }) {
  return h('a', { href: href(path), 'aria-current': isHere ? 'page' : undefined }, label);
}

/** @param {typeof GROUPS[number]} group */
function groupLabel(group) {
  return text(`group_${group}`);
}

/** Screens that are no subjects of the interface. */
const OWN = /** @type {Record<string, [() => Promise<Record<string, any>>, string]>} */ ({
  account: [() => import('../screens/account.js'), 'Account'],
  map: [() => import('../screens/map.js'), 'MapScreen'],
  replenishments: [() => import('../screens/replenishments.js'), 'Replenishments'],
  settings: [() => import('../screens/settings.js'), 'Settings'],
});

function Screen() {
  const [name, id, part, item, ...rest] = address.value.path;
  if (name === undefined) {
    return h(Home, {});
  }
  const own = OWN[name];
  if (own !== undefined && id === undefined) {
    return h(Lazy, { load: own[0], name: own[1], props: {} });
  }
  const top = SUBJECT.get(name);
  const below = part === undefined ? undefined : SUBJECT.get(part);
  const subject = part === undefined ? top : below;
  if (subject === undefined || rest.length > 0 || subject.parent !== (part && name)) {
    return h(Title, { title: text('not_found') });
  }
  if (part === undefined ? id === undefined : item === undefined) {
    return h(Lazy, { load: () => import('../screens/list.js'), name: 'ListScreen', props: { subject, id } });
  }
  if (id === 'new') {
    return name === 'imports'
      ? h(Lazy, { load: () => import('../screens/upload.js'), name: 'Upload', props: {} })
      : h(Lazy, { load: () => import('../screens/new.js'), name: 'NewScreen', props: { subject } });
  }
  const parameters = { id, ...(item === undefined ? {} : { [subject.item ?? 'id']: item }) };
  const props = { subject, parameters };
  return h(Lazy, { load: () => import('../screens/detail.js'), name: 'DetailScreen', props });
}

/** Language and appearance. */
function Choices() {
  return h('div', { class: 'choices' }, [
    h('label', {}, [
      h('span', { class: 'hidden' }, text('language')),
      h(
        'select',
        {
          value: language.value,
          onChange: async (/** @type {Event} */ event) => {
            const select = /** @type {HTMLSelectElement} */ (event.currentTarget);
            const chosen = /** @type {keyof typeof LANGUAGES} */ (select.value);
            rememberLanguage(chosen);
            try {
              await imported(() => useLanguage(chosen));
              document.documentElement.lang = chosen;
            } catch (error) {
              select.value = language.value;
              say(errorText(error));
            }
          },
        },
        Object.entries(LANGUAGES).map(([code, label]) => h('option', { key: code, value: code }, label)),
      ),
    ]),
    h('label', {}, [
      h('span', { class: 'hidden' }, text('theme')),
      h(
        'select',
        {
          value: localStorage.getItem('stowage.theme') ?? '',
          onChange: (/** @type {Event} */ event) => {
            const { value } = /** @type {HTMLSelectElement} */ (event.currentTarget);
            localStorage.setItem('stowage.theme', value);
            document.documentElement.dataset.theme = value;
          },
        },
        [
          h('option', { value: '' }, text('theme_system')),
          h('option', { value: 'light' }, text('theme_light')),
          h('option', { value: 'dark' }, text('theme_dark')),
        ],
      ),
    ]),
  ]);
}

/** Shows what failed in a screen instead of an empty page. */
class Boundary extends Component {
  /**
   * @override
   * @type {{error: unknown}}
   */
  state = { error: null };

  /**
   * @override
   * @param {unknown} error
   */
  static getDerivedStateFromError(error) {
    return { error };
  }

  /** @override */
  render() {
    const { error } = this.state;
    return error ? h(Notice, { error, onRetry: () => location.reload() }) : this.props.children;
  }
}

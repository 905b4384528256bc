// @ts-nocheck: the types of workers and of pages exclude each other
/**
 * Keeps the floor of one release in the browser, so that it opens without a network. The service puts
 * VERSION and FILES before this. Calls of the interface are not touched.
 */

const CACHE = `stowage.floor ${VERSION}`;
const BASE = new URL('../', registration.scope).href;
const PAGE = registration.scope;

addEventListener('install', (event) => {
  event.waitUntil(install());
});

// The next release waits until the page asks for it, between two tasks.
addEventListener('message', ({ data }) => {
  if (data === 'activate') {
    skipWaiting();
  }
});

addEventListener('activate', (event) => {
  event.waitUntil(activate());
});

addEventListener('fetch', (event) => {
  const { request } = event;
  if (request.mode === 'navigate' && request.url.startsWith(PAGE)) {
    event.respondWith(page(request));
  } else if (request.url.startsWith(BASE)) {
    event.respondWith(kept(request.url, request));
  }
});

async function install() {
  const cache = await caches.open(CACHE);
  const page = await fetch(PAGE, { cache: 'no-store' });
  // A release between the worker and its page: the next attempt finds both of it.
  if (!(await page.clone().text()).includes(`"${VERSION}/floor/main.js"`)) {
    throw new Error('The page is of another release');
  }
  await cache.put(PAGE, page);
  await cache.addAll(FILES.map((name) => `${BASE}${VERSION}/${name}`));
}

async function activate() {
  const names = await caches.keys();
  // A page in a task goes on with the release before, until it is between two tasks.
  const old = names.filter((name) => name.startsWith('stowage.floor ') && name !== CACHE).slice(0, -1);
  await Promise.all(old.map((name) => caches.delete(name)));
  await clients.claim();
}

/**
 * Return the page for any of its addresses; what it loads is relative to that of the console.
 *
 * @param {Request} request
 */
async function page(request) {
  const found = await kept(PAGE, request);
  const text = await found.text();
  const { headers, status } = found;
  return new Response(text.replace(/<base href="[^"]*"/, `<base href="${BASE}"`), { headers, status });
}

/**
 * @param {string} address
 * @param {Request} request
 */
async function kept(address, request) {
  const cache = await caches.open(CACHE);
  return (await cache.match(address)) ?? (await caches.match(address)) ?? fetch(request);
}

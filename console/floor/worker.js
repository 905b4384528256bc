// @ts-nocheck: the types of workers and of pages exclude each other
/**
 * Keeps the floor of one release in the browser, so that it opens without a network. The service puts
 * VERSION and FILES before this. Calls of the interface are not touched.
 */

const CACHE = `stowage.floor ${VERSION}`;
const BASE = new URL('../', registration.scope).href;
const PAGE = registration.scope;

addEventListener('install', (event) => {
  // An empty cache would count as that of the release before.
  event.waitUntil(install().catch((error) => caches.delete(CACHE).then(() => Promise.reject(error))));
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
  const later = (await usedLater()).map((name) => cache.add(`${BASE}${VERSION}/${name}`).catch(() => undefined));
  await Promise.all(later);
}

/**
 * @returns {Promise<string[]>} what the releases before loaded only when it was used, such as the reader
 *   of the camera: who needs it has it without a network after an update, too
 */
async function usedLater() {
  const names = (await caches.keys()).filter(isOfFloor);
  const all = await Promise.all(names.map(async (name) => (await caches.open(name)).keys()));
  const files = all.flat().map(({ url }) => url.slice(BASE.length).split('/').slice(1).join('/'));
  return [...new Set(files)].filter((name) => name.startsWith('vendor/') && !FILES.includes(name));
}

/** @param {string} name of a cache */
function isOfFloor(name) {
  return name.startsWith('stowage.floor ');
}

async function activate() {
  const names = await caches.keys();
  // A page in a task goes on with the release before, until it is between two tasks.
  const old = names.filter((name) => isOfFloor(name) && name !== CACHE).slice(0, -1);
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
 * Return a file; keep it if this release has it and the floor loads it only when it is used.
 *
 * @param {string} address
 * @param {Request} request
 */
async function kept(address, request) {
  const cache = await caches.open(CACHE);
  const found = (await cache.match(address)) ?? (await caches.match(address));
  if (found !== undefined) {
    return found;
  }
  const loaded = await fetch(request);
  if (loaded.ok && address.startsWith(`${BASE}${VERSION}/`)) {
    await cache.put(address, loaded.clone()).catch(() => undefined); // such as storage that is full
  }
  return loaded;
}

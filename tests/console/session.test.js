import assert from 'node:assert/strict';
import { test } from 'node:test';

import { NoAnswer, SessionEnded } from '../../console/core/refusal.js';
import { Session } from '../../console/core/session.js';
import { claimTab, shareSession } from '../../console/core/tabs.js';
import { timeZone } from '../../console/core/zone.js';
import { answer, BROKEN, FakeBrowser, granted, refused, signedInSession } from './service.js';

const BASE = 'https://acme.test/v1';

test('a sign-in sends name, password and code, and shows who it is', async () => {
  const browser = new FakeBrowser(granted('first'));
  const session = new Session(BASE, browser);
  await session.signIn('ana', 'p&ss', '123456');
  assert.equal(browser.sent[0]?.url, `${BASE}/oauth/token`);
  assert.equal(
    browser.sent[0]?.body,
    'grant_type=password&username=ana&password=p%26ss&otp=123456',
  );
  assert.deepEqual(session.user.value, {
    userId: '7',
    tenant: 'acme',
    permissions: new Set(['exits.manage']),
    isRestricted: false,
    issuedAt: 1_800_000_000,
  });
  assert.equal(timeZone.value, 'Europe/Madrid');
});

test('a session without the second factor is restricted', async () => {
  const browser = new FakeBrowser(granted('first', { second_factor: false, permissions: '' }));
  const session = new Session(BASE, browser);
  await session.signIn('ana', 'secret');
  assert.equal(session.user.value?.isRestricted, true);
  assert.equal(session.user.value?.permissions.size, 0);
});

test('a user of another company with the same id is another owner', async () => {
  const session = new Session(BASE, new FakeBrowser(granted('first'), granted('other', { tenant: 'beta' })));
  assert.equal(session.owner, '');
  await session.signIn('ana', 'secret');
  const before = session.owner;
  await session.signIn('ana', 'secret');
  assert.notEqual(session.owner, before);
});

test('a refused sign-in has the code of the answer', async () => {
  const wrong = answer(400, { error: 'invalid_grant', error_description: 'Wrong.' });
  const locked = refused(429, 'rate_limited', { 'Retry-After': '900' });
  const session = new Session(BASE, new FakeBrowser(wrong, locked, BROKEN));
  await assert.rejects(session.signIn('ana', 'x'), { code: 'invalid_grant', message: 'Wrong.' });
  await assert.rejects(session.signIn('ana', 'x'), { code: 'rate_limited', retryAfter: 900 });
  await assert.rejects(session.signIn('ana', 'x'), NoAnswer);
  assert.equal(session.user.value, null);
});

test('the page of a tab continues the session of the page before', async () => {
  const browser = new FakeBrowser(granted('first'), granted('second'));
  await new Session(BASE, browser).signIn('ana', 'secret');
  const session = new Session(BASE, browser);
  assert.equal(session.canContinue, true);
  await session.token();
  assert.match(browser.sent[1]?.body ?? '', /^grant_type=refresh_token&refresh_token=first$/);
  assert.equal(browser.storage.getItem('stowage.refresh_token'), 'second');
  assert.equal(session.user.value?.userId, '7');
});

test('a duplicated tab leaves the session to the first one', async () => {
  const browser = new FakeBrowser(granted('first'), granted('second'));
  const first = new Session(BASE, browser);
  await claimTab(browser);
  await first.signIn('ana', 'secret');
  const copied = new FakeBrowser();
  copied.stored = new Map(browser.stored);
  copied.held = browser.held;
  copied.keys = browser.keys;
  const copy = new Session(BASE, copied);
  await claimTab(copied);
  assert.equal(copy.canContinue, false);
  assert.notEqual(copied.stored.get('stowage.tab'), browser.stored.get('stowage.tab'));
  assert.equal(copied.sent.length, 0);

  browser.held.clear(); // the page of the first tab is loaded again
  const next = new Session(BASE, browser);
  await claimTab(browser);
  assert.equal(next.canContinue, true);
});

test('a token is renewed a minute before its end, once for all who wait', async () => {
  const browser = new FakeBrowser(granted('second'));
  const session = await signedInSession(browser);
  await session.token();
  assert.equal(browser.sent.length, 0);
  browser.time += 3541 * 1000;
  const tokens = await Promise.all([session.token(), session.token(), session.token()]);
  assert.equal(new Set(tokens).size, 1);
  assert.equal(browser.sent.length, 1);
});

test('a refused refresh token ends the session; no answer does not', async () => {
  const browser = new FakeBrowser(
    BROKEN,
    refused(503, 'service_unavailable'),
    answer(400, { error: 'invalid_grant' }),
  );
  const session = await signedInSession(browser);
  await assert.rejects(session.renew(), NoAnswer);
  await assert.rejects(session.renew(), { status: 503 });
  assert.equal(session.isEnded.value, false);
  await assert.rejects(session.renew(), SessionEnded);
  assert.equal(session.isEnded.value, true);
  assert.equal(session.user.value?.userId, '7', 'screens stay until the next sign-in');
  await assert.rejects(session.token(), SessionEnded);
  assert.equal(session.canContinue, false);
});

test('a sign-out revokes the refresh token, and ends the session without an answer, too', async () => {
  const browser = new FakeBrowser(BROKEN);
  const session = await signedInSession(browser);
  await session.signOut();
  assert.equal(browser.sent[0]?.url, `${BASE}/oauth/revoke`);
  assert.equal(browser.sent[0]?.body, 'token=first');
  assert.equal(session.user.value, null);
  assert.equal(browser.stored.size, 0);
});

/**
 * Return the session of another tab of the same browser, and what its sign-outs elsewhere were.
 *
 * @param {Session} session
 * @param {FakeBrowser} first
 */
async function otherTab(session, first) {
  const browser = new FakeBrowser();
  browser.listeners = first.listeners;
  browser.time = first.time;
  const tab = new Session(BASE, browser);
  const left = /** @type {string[]} */ ([]);
  const prepared = first.answers;
  first.answers = [granted('first')];
  for (const [name, one, its] of /** @type {const} */ ([['first', session, first], ['other', tab, browser]])) {
    its.wait = () => new Promise(() => undefined);
    await shareSession(one, its, () => left.push(name));
  }
  first.answers = prepared;
  first.sent = [];
  return { tab, browser, left };
}

test('a new tab gets access tokens of the first one, which keeps its refresh token', async () => {
  const first = new FakeBrowser();
  const session = await signedInSession(first);
  const { tab, browser } = await otherTab(session, first);
  assert.equal(tab.user.value?.userId, '7');
  assert.equal(await tab.token(), await session.token());
  assert.equal(browser.stored.size, 0);
  assert.equal(browser.sent.length + first.sent.length, 0);

  first.answers = [granted('second')];
  assert.equal(await tab.renew(), await session.token());
  assert.equal(first.sent.length, 1);
  assert.equal(first.storage.getItem('stowage.refresh_token'), 'second');
  assert.equal(browser.sent.length, 0);
});

test('a tab that nobody answers asks for a sign-in', async () => {
  const first = new FakeBrowser();
  const tab = new Session(BASE, first);
  await shareSession(tab, first, () => undefined);
  assert.equal(tab.user.value, null);
  await assert.rejects(tab.renew(), SessionEnded);
});

test('a session whose first tab is closed ends when its token does', async () => {
  const first = new FakeBrowser();
  const { tab, browser } = await otherTab(await signedInSession(first), first);
  first.listeners.shift();
  browser.wait = async () => undefined;
  await tab.token();
  await assert.rejects(tab.renew(), SessionEnded);
  assert.equal(tab.user.value?.userId, '7', 'screens stay until the next sign-in');
});

test('nobody continues with the session of somebody else', async () => {
  const first = new FakeBrowser();
  const session = await signedInSession(first);
  const { tab, browser } = await otherTab(session, first);
  browser.wait = () => new Promise((resolve) => setTimeout(resolve, 50));
  first.answers = [granted('other', { sub: '8' }), granted('next', { sub: '8' })];
  await session.signIn('eva', 'secret');
  await assert.rejects(tab.renew(), SessionEnded);
  assert.equal(tab.user.value?.userId, '7');
});

test('a sign-out in one tab signs out in all, and revokes the refresh token', async () => {
  const first = new FakeBrowser(answer(204));
  const session = await signedInSession(first);
  const { tab, left } = await otherTab(session, first);
  await tab.signOut();
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.deepEqual(left, ['first']);
  assert.equal(session.user.value, null);
  assert.deepEqual(first.sent.map(({ body }) => body), ['token=first']);
  assert.equal(session.canContinue, false);
});

test('an answer that comes after a sign-out signs nobody in', async () => {
  const browser = new FakeBrowser(granted('second'), answer(204), answer(204));
  const session = await signedInSession(browser);
  const renewal = assert.rejects(session.renew(), SessionEnded);
  await session.leave();
  await renewal;
  assert.equal(session.user.value, null);
  assert.equal(session.canContinue, false);
  assert.deepEqual(browser.sent.slice(1).map(({ body }) => body), ['token=first', 'token=second']);
});

test('a token that another tab lends after a sign-out signs nobody in', async () => {
  const first = new FakeBrowser();
  const session = await signedInSession(first);
  const { tab } = await otherTab(session, first);
  first.answers = [granted('second')];
  const renewal = assert.rejects(tab.renew(), SessionEnded);
  await tab.leave();
  await renewal;
  assert.equal(tab.user.value, null);
});

/** The time of the service, whatever the clock of the device says. */

/** Differences of clocks that are not corrected: an answer gives its time in whole seconds. */
const SMALL = 2_000;

/**
 * @param {string | null | undefined} date of an answer of the service
 * @returns {number} milliseconds by which the clock of the device is ahead; 0 if that is not known
 */
export function aheadOf(date) {
  const ahead = Date.now() - Date.parse(date ?? '');
  return Math.abs(ahead) > SMALL ? ahead : 0;
}

/**
 * A token says when the service issued it, which was less than an hour ago: the time since then is
 * what the device counts. So it is wrong by an hour at most, also after the clock of the device was
 * set, or stood still while the device slept: a token that seems older is renewed first.
 */
export class ServiceClock {
  #seen = { issuedAt: 0, device: 0, ticks: 0 };

  /**
   * @param {Pick<import('../core/session.js').Session, 'token' | 'user'>} session
   * @param {Pick<import('../core/browser.js').Browser, 'now'>} browser
   * @param {() => number} [ticks] milliseconds that only grow
   */
  constructor(session, browser, ticks = () => performance.now()) {
    this.session = session;
    this.browser = browser;
    this.ticks = ticks;
  }

  /**
   * @returns {Promise<number>} milliseconds since 1970
   * @throws {import('../core/refusal.js').SessionEnded | import('../core/refusal.js').NoAnswer}
   */
  async now() {
    await this.session.token();
    const issuedAt = this.session.user.value?.issuedAt ?? 0;
    if (issuedAt !== this.#seen.issuedAt) {
      this.#seen = { issuedAt, device: this.browser.now(), ticks: this.ticks() };
    }
    const { device, ticks } = this.#seen;
    return issuedAt * 1000 + Math.max(this.browser.now() - device, this.ticks() - ticks);
  }
}

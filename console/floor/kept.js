/** The scans on a device by whose they are. */

/** @typedef {import('./store.js').Scan} Scan */

/**
 * @param {readonly Scan[]} pending scans of everybody at the device that are not done
 * @param {string} self who looks: company and id of the user
 * @param {boolean} isSupervisor whether they answer for the users of their company
 * @returns {{owner: string, scans: Scan[]}[]} their own ones, and those of others of their company that
 *   they answer for
 */
export function keptBy(pending, self, isSupervisor) {
  const [company] = self.split('/');
  const mine = pending.filter(({ owner }) => owner === self || (isSupervisor && owner.startsWith(`${company}/`)));
  const owners = [...new Set(mine.map(({ owner }) => owner))];
  return owners.map((owner) => ({ owner, scans: mine.filter((scan) => scan.owner === owner) }));
}

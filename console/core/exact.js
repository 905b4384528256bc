/** Most digits of a quantity behind the point. */
const DECIMALS = 6;

/**
 * Return a quantity without the traces of binary fractions: 0.3 − 0.1 is 0.2.
 *
 * @param {number} qty
 */
export const exact = (qty) => Number(qty.toFixed(DECIMALS));

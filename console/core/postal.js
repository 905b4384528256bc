/**
 * Addresses for people.
 */

/**
 * Return the lines of an address: who, where, and how to reach them.
 *
 * @param {any} address `ship_to_address` of the interface
 * @param {string} language in which the country is named
 * @returns {string[]}
 */
export function postalLines(address, language) {
  const { name, company, line1, line2, city, state, zip_code: code, country, phone, email } = address;
  const lines = [
    [company],
    [name],
    [line1],
    [line2],
    [[code, city].filter(Boolean).join(' '), state],
    [countryName(country, language)],
    [phone, email],
  ];
  return lines.map((parts) => parts.filter(Boolean).join(', ')).filter(Boolean);
}

/**
 * @param {unknown} code of two capital letters
 * @param {string} language
 */
function countryName(code, language) {
  return typeof code === 'string' ? new Intl.DisplayNames(language, { type: 'region' }).of(code) : '';
}

/**
 * What a recorded request is of.
 */

/**
 * Return the values of `{name}` in the path of an operation.
 *
 * @param {string} operation such as `GET /products/{id}`
 * @param {string} path such as `/products/7`
 * @returns {Record<string, string>}
 */
export function parametersOf(operation, path) {
  const values = path.split('/');
  const names = operation.slice(operation.indexOf(' ') + 1).split('/');
  return Object.fromEntries(
    names.flatMap((name, at) => (name.startsWith('{') ? [[name.slice(1, -1), decodeURIComponent(values[at] ?? '')]] : [])),
  );
}

/**
 * Return the operation that a request is of, such as `POST /receipts/{id}/start`.
 *
 * @param {readonly string[]} operations
 * @param {{method: string, path: string}} request
 * @returns {string | undefined}
 */
export function operationOf(operations, { method, path }) {
  return operations.find((operation) => {
    const pattern = operation.replaceAll(/\{\w+\}/g, '[^/]+');
    return new RegExp(`^${pattern}$`).test(`${method} ${path}`);
  });
}

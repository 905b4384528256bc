/**
 * What is printed looks as `print.css` says, which is loaded with the screens that can be printed.
 */

document.head.append(
  Object.assign(document.createElement('link'), {
    rel: 'stylesheet',
    media: 'print',
    href: new URL('../print.css', import.meta.url).href,
  }),
);

export function printScreen() {
  print();
}

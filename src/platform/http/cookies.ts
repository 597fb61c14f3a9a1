import type { ServerResponse } from 'node:http';
import { parseCookie, stringifySetCookie } from 'cookie';

/** Values are sent as they are, so decoding them would change them. */
const VERBATIM = { encode: (text: string) => text, decode: (text: string) => text };

/** Returns the value of a cookie, of several with one name the first; undefined when there is none. */
export function readCookie(header: string | undefined, name: string): string | undefined {
  return header === undefined ? undefined : parseCookie(header, VERBATIM)[name];
}

/** Returns the names and values of a `Cookie` header in order. */
export function cookiesOf(header: string): [name: string, value: string | undefined][] {
  return Object.entries(parseCookie(header, VERBATIM));
}

/**
 * Formats a `Set-Cookie` value for the whole origin, not readable by scripts. `Lax` rather than `Strict`, so that people
 * who return from the identity provider or follow a mailed link are logged in.
 *
 * @param isSecure sent over https only
 * @param maxAgeSeconds 0 deletes it
 */
export function originCookie(
  name: string,
  value: string,
  { isSecure, maxAgeSeconds }: { isSecure: boolean; maxAgeSeconds: number },
): string {
  return stringifySetCookie(
    {
      ...{ name, value, path: '/', maxAge: maxAgeSeconds },
      ...{ httpOnly: true, sameSite: 'lax', secure: isSecure },
    },
    VERBATIM,
  );
}

/** Sets cookies, formatted by `originCookie`, whatever the outcome of the request. */
export type SetCookie = (cookies: string | string[]) => void;

export function cookieSetter(response: ServerResponse): SetCookie {
  return (cookies) => void response.appendHeader('set-cookie', cookies);
}

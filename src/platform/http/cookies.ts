import type { ServerResponse } from 'node:http';

/** Returns the value of a cookie; undefined when the request has none of that name. */
export function readCookie(header: string | undefined, name: string): string | undefined {
  return header === undefined ? undefined : cookiesOf(header).find(([key]) => key === name)?.[1];
}

/** Returns the names and values of a `Cookie` header in order. */
export function cookiesOf(header: string): [name: string, value: string][] {
  return header.split(';').map((pair) => {
    const equals = pair.indexOf('=');
    return [pair.slice(0, equals).trim(), pair.slice(equals + 1).trim()];
  });
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
  const secure = isSecure ? '; Secure' : '';
  return `${name}=${value}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${secure}`;
}

/** Sets cookies, formatted by `originCookie`, whatever the outcome of the request. */
export type SetCookie = (cookies: string | string[]) => void;

export function cookieSetter(response: ServerResponse): SetCookie {
  return (cookies) => void response.appendHeader('set-cookie', cookies);
}

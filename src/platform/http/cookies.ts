import type { ServerResponse } from 'node:http';

/** The value of a request's cookie; undefined when it carries none of that name. */
export function readCookie(header: string | undefined, name: string): string | undefined {
  return header === undefined ? undefined : cookiesOf(header).find(([key]) => key === name)?.[1];
}

/** Names and values of a `Cookie` header, in its order. */
export function cookiesOf(header: string): [name: string, value: string][] {
  return header.split(';').map((pair) => {
    const equals = pair.indexOf('=');
    return [pair.slice(0, equals).trim(), pair.slice(equals + 1).trim()];
  });
}

/**
 * A cookie for the whole origin that scripts cannot read, as `Set-Cookie` writes it. `Lax`, not `Strict`:
 * whoever comes back from an issuer, or follows a link in a mail, is logged in at once.
 *
 * @param isSecure it is sent over https alone
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

/** Hands the browser cookies, each as `originCookie` writes it; whatever becomes of the request then. */
export type SetCookie = (cookies: string | string[]) => void;

export function cookieSetter(response: ServerResponse): SetCookie {
  return (cookies) => void response.appendHeader('set-cookie', cookies);
}

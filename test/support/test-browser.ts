/** The part of a browser that logins need: cookies by origin, and redirects one at a time. */
export class TestBrowser {
  private readonly jars = new Map<string, Map<string, string>>();

  /** Fetches without following redirects; a path is relative to `origin`. */
  async fetch(url: string, init: RequestInit = {}): Promise<Response> {
    const jar = this.jarOf(url);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url, {
      ...init,
      redirect: 'manual',
      headers: { ...(cookie !== '' && { cookie }), ...(init.headers as Record<string, string>) },
    });
    for (const line of response.headers.getSetCookie()) {
      const [pair = '', ...attributes] = line.split(';').map((each) => each.trim());
      const equals = pair.indexOf('=');
      const isDeleted = attributes.some(
        (each) => /^max-age=0$/i.test(each) || /^expires=thu, 01 jan 1970/i.test(each),
      );
      if (isDeleted) jar.delete(pair.slice(0, equals));
      else jar.set(pair.slice(0, equals), pair.slice(equals + 1));
    }
    return response;
  }

  /** Follows redirects until one leads to `stopAt`. */
  async follow(url: string, stopAt: (url: string) => boolean): Promise<string> {
    let next = url;
    for (let hops = 0; hops < 10; hops++) {
      if (stopAt(next)) return next;
      const response = await this.fetch(next);
      const location = response.headers.get('location');
      if (location === null) throw new Error(`${next} answered ${response.status}, no redirect`);
      next = new URL(location, next).href;
    }
    throw new Error('Too many redirects');
  }

  cookies(url: string): ReadonlyMap<string, string> {
    return this.jarOf(url);
  }

  setCookie(url: string, name: string, value: string): void {
    this.jarOf(url).set(name, value);
  }

  private jarOf(url: string): Map<string, string> {
    const { origin } = new URL(url);
    const jar = this.jars.get(origin) ?? new Map<string, string>();
    this.jars.set(origin, jar);
    return jar;
  }
}

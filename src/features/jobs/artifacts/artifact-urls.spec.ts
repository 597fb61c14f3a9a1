import { describe, expect, it } from '@jest/globals';
import { ArtifactUrls } from './artifact-urls.js';

const SECRET = 'a-secret-of-at-least-32-characters';
const urls = new ArtifactUrls(SECRET, () => 'https://gateway.example/base');
const EXPIRY = new Date('2030-01-01T00:00:00.900Z');

/** The parts of a signed URL. */
function parts(url: string): { id: string; expires: string; signature: string } {
  const { pathname, searchParams } = new URL(url);
  return {
    id: pathname.split('/').at(-1)!,
    expires: searchParams.get('expires')!,
    signature: searchParams.get('signature')!,
  };
}

describe(ArtifactUrls.name, () => {
  const { id, expires, signature } = parts(urls.sign('img_1', EXPIRY));

  it('signs absolute URLs below the base and verifies them', () => {
    expect(urls.sign('img_1', EXPIRY)).toMatch(
      /^https:\/\/gateway\.example\/base\/v1\/artifacts\/img_1\?expires=1893456000&signature=[\w-]{43}$/,
    );
    expect(urls.verify(id, expires, signature)).toBe(true);
  });

  it('returns the same URL for the same artifact and expiry', () => {
    expect(urls.sign('img_1', EXPIRY)).toBe(urls.sign('img_1', EXPIRY));
  });

  it('rejects signatures of another artifact, expiry or secret', () => {
    expect(urls.verify('img_2', expires, signature)).toBe(false);
    expect(urls.verify(id, String(Number(expires) + 1), signature)).toBe(false);
    expect(urls.verify(id, `0${expires}`, signature)).toBe(false);
    expect(new ArtifactUrls(`${SECRET}!`, () => '').verify(id, expires, signature)).toBe(false);
  });

  it.each(['', 'x', 'é', `${'A'.repeat(43)}`, `${'A'.repeat(100_000)}`])(
    'rejects forged signature %#',
    (made) => {
      expect(urls.verify(id, expires, made)).toBe(false);
    },
  );

  it('accepts only the canonical encoding of a signature', () => {
    expect(urls.verify(id, expires, `${signature}=`)).toBe(false);
    expect(urls.verify(id, expires, ` ${signature}`)).toBe(false);
    expect(urls.verify(id, expires, `${signature}\n`)).toBe(false);
  });
});

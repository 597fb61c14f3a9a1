import { describe, expect, it } from '@jest/globals';
import { readMediaType } from './media-fetcher.js';

const PNG = Buffer.from('\x89PNG\r\n\x1a\n....', 'latin1');

describe(readMediaType.name, () => {
  it.each<[string | string[] | undefined, string | undefined]>([
    ['image/png', 'image/png'],
    ['IMAGE/PNG; charset=binary', 'image/png'],
    ['image/svg+xml', 'image/svg+xml'],
    ['application/pdf', 'application/pdf'],
    ['text/plain;charset=utf-8', 'text/plain'],
    [['text/csv', 'image/png'], 'text/csv'],
    ['application/json', undefined],
    ['video/mp4', undefined],
    ['image', undefined],
    ['image/png\r\nx: y', undefined],
  ])('reads %j as %p', (header, expected) => {
    expect(readMediaType(header, PNG)).toBe(expected);
  });

  it.each<[string, string | undefined]>([
    ['\x89PNG\r\n\x1a\n', 'image/png'],
    ['\xff\xd8\xff\xe0', 'image/jpeg'],
    ['GIF89a', 'image/gif'],
    ['RIFF....WEBPVP8 ', 'image/webp'],
    ['%PDF-1.7', 'application/pdf'],
    ['MZ', undefined],
    ['', undefined],
  ])('detects the first bytes %j as %p when the server sends no type', (bytes, expected) => {
    const data = Buffer.from(bytes, 'latin1');
    expect(readMediaType(undefined, data)).toBe(expected);
    expect(readMediaType('application/octet-stream', data)).toBe(expected);
  });
});

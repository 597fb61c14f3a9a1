import { describe, expect, it } from '@jest/globals';
import { sniffAudioContainer } from './audio-formats.js';

describe('sniffAudioContainer', () => {
  it.each([
    ['wav', Buffer.from('RIFF\0\0\0\0WAVEfmt ')],
    ['flac', Buffer.from('fLaC\0\0\0\0')],
    ['ogg', Buffer.from('OggS\0\0\0\0')],
    ['mp4', Buffer.from('\0\0\0\x20ftypM4A ')],
    ['webm', Buffer.from([0x1a, 0x45, 0xdf, 0xa3, 0, 0])],
    ['mp3', Buffer.from('ID3\x04\0\0\0\0\0\0')],
    ['mp3', Buffer.from([0xff, 0xfb, 0x90, 0x64])],
    ['mp3', Buffer.from([0xff, 0xf3, 0x40, 0xc4])],
  ])('detects %s', (container, head) => {
    expect(sniffAudioContainer(head)).toBe(container);
  });

  it.each([
    ['nothing', Buffer.alloc(0)],
    ['one byte', Buffer.from([0xff])],
    ['ADTS', Buffer.from([0xff, 0xf1, 0x50, 0x80])],
    ['a picture', Buffer.from([0xff, 0xd8, 0xff, 0xe0])],
    ['AVI', Buffer.from('RIFF\0\0\0\0AVI LIST')],
    ['text', Buffer.from('hello, world')],
  ])('does not mistake %s for audio', (_name, head) => {
    expect(sniffAudioContainer(head)).toBeUndefined();
  });
});

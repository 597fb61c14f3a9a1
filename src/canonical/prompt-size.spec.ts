import { describe, expect, it } from '@jest/globals';
import { waveHeader } from '../platform/audio/wave-file.js';
import { PromptMeter, TOKENS_PER_MESSAGE, promptTokensOf } from './prompt-size.js';

function sizeOf(...texts: string[]) {
  const meter = new PromptMeter();
  for (const text of texts) meter.addText(text);
  return meter.size();
}

describe(PromptMeter.name, () => {
  it.each([
    ['nothing', '', 0, 0],
    ['one letter', 'a', 1, 1],
    ['three letters', 'abc', 1, 3],
    ['four letters', 'abcd', 2, 4],
    ['3,000 letters', 'a'.repeat(3_000), 1_000, 3_000],
    ['a NUL', '\u0000', 1, 1],
    ['the last ASCII character', '\u007f', 1, 1],
    ['the first non-ASCII character', '\u0080', 1, 1],
    ['CJK', '日本語', 3, 3],
    ['Cyrillic', 'привет', 6, 6],
    ['emoji, whose four bytes are more than a token', '🙂🙂', 3, 2],
    ['a family emoji of seven code points', '👩‍👩‍👧‍👦', 9, 7],
    ['a mixture', 'abc日🙂', 4, 5],
    ['lone high surrogates', '\ud83d\ud83d', 2, 2],
    ['lone low surrogates', '\ude42\ude42\ude42', 3, 3],
    ['halves in the wrong order', '\ude42\ud83d', 2, 2],
  ])('counts %s', (_, text, tokens, characters) => {
    expect(sizeOf(text)).toMatchObject({
      tokens,
      characters,
      images: 0,
      pages: 0,
      audioSeconds: 0,
    });
  });

  it('never counts less than a third of the code points', () => {
    for (const text of ['x'.repeat(999), '日'.repeat(99), 'é'.repeat(50) + 'e'.repeat(50)]) {
      expect(sizeOf(text).tokens).toBeGreaterThanOrEqual([...text].length / 3);
    }
  });

  it('rounds once over all ASCII text', () => {
    expect(sizeOf('a', 'a', 'a').tokens).toBe(1);
  });

  it('adds messages, images, other parts and raw bytes', () => {
    const meter = new PromptMeter();
    meter.addMessage();
    meter.addMessage();
    meter.addImage();
    meter.addTokens(100);
    meter.addBytes(300);
    expect(meter.size()).toEqual({
      tokens: 2 * TOKENS_PER_MESSAGE + 100 + 100,
      characters: 300,
      images: 1,
      pages: 0,
      audioSeconds: 0,
    });
  });

  it("adds the vendor's general tool instructions", () => {
    const meter = new PromptMeter();
    meter.addTools(300);
    expect(meter.size()).toMatchObject({ tokens: 700, characters: 300 });
  });

  const pdf = (streams: number, bytes: number): string =>
    Buffer.from(`%PDF-1.7\n${'endstream '.repeat(streams)}`.padEnd(bytes, ' ')).toString('base64');

  it.each([
    ['a linked document', undefined, 100],
    ['an empty one', '', 1],
    ['a small one, by its size', Buffer.alloc(9_000).toString('base64'), 3],
    [
      'a large document that is not a PDF, by its size',
      Buffer.alloc(90_000).toString('base64'),
      30,
    ],
    ['a PDF, by its streams', pdf(7, 90_000), 7],
    ['a PDF in a data URL', `data:application/pdf;base64,${pdf(7, 90_000)}`, 7],
    ['a PDF with more streams than its size has pages', pdf(500, 90_000), 30],
    ['a PDF without visible streams', pdf(0, 90_000), 1],
  ])('bounds the pages of %s', (_, base64, pages) => {
    const meter = new PromptMeter();
    meter.addDocument(base64);
    expect(meter.size()).toMatchObject({ tokens: 0, characters: 0, pages });
  });

  const wave = (codec: number, bytes: number, sampleRate = 8_000): string => {
    const header = waveHeader({ channels: 1, sampleRate, bitsPerSample: 8 }, bytes - 44);
    header.writeUInt16LE(codec, 20);
    return Buffer.concat([header, Buffer.alloc(bytes - 44)]).toString('base64');
  };

  it.each([
    ['nothing readable', undefined, undefined, 1],
    ['compressed audio', Buffer.alloc(60_000).toString('base64'), 'mp3', 60],
    ['uncompressed audio', wave(1, 78_000), 'wav', 10],
    ['uncompressed audio without a header', Buffer.alloc(78_000).toString('base64'), 'pcm16', 10],
    ['compressed audio declared as WAV', Buffer.alloc(78_000).toString('base64'), 'wav', 78],
    ['compressed audio inside WAV', wave(0x55, 78_000), 'wav', 78],
    ['WAV at 8 kbit/s', wave(1, 78_000, 1_000), 'wav', 78],
  ])('bounds the length of %s', (_, data, format, audioSeconds) => {
    const meter = new PromptMeter();
    meter.addAudio(data, format);
    expect(meter.size()).toMatchObject({ tokens: 0, audioSeconds });
  });

  it('counts long base64 in unknown parts as media and other strings as text', () => {
    const tokensOf = (part: object): number => {
      const meter = new PromptMeter();
      meter.addUnknown(part);
      return meter.size().tokens;
    };
    const long = 'A'.repeat(20_000_000);
    expect(tokensOf({ url: `data:video/mp4;base64,${long}` })).toBeLessThan(20_100);
    expect(tokensOf({ url: `${long}!` })).toBeGreaterThan(6_000_000);
  });
});

describe('image sources', () => {
  const data = Buffer.alloc(9_000).toString('base64');
  const film = { images: 0, pages: 10_000, audioSeconds: 0 };
  const picture = { images: 1, pages: 0, audioSeconds: 0 };

  it.each<[string, object, string | undefined]>([
    [`data:image/png;base64,${data}`, picture, undefined],
    [data, picture, 'image/webp'],
    ['https://a.test/films.mp4/picture?of=a.mp4', picture, undefined],
    [`data:video/mp4;base64,${data}`, film, undefined],
    [`DATA:Video/MP4;base64,${data}`, film, undefined],
    [`data: video/mp4;x=1;base64,${data}`, film, undefined],
    [data, { ...picture, images: 0, pages: 3 }, undefined],
    [data, film, 'video/webm'],
    ['https://a.test/A.MP4?token=1', film, undefined],
    ['https://a.test/a.mp3', film, undefined],
    [`data:audio/mp3;base64,${data}`, { ...picture, images: 0, audioSeconds: 10 }, undefined],
    [`data:application/pdf;base64,${data}`, { ...picture, images: 0, pages: 4 }, undefined],
    ['https://a.test/a.pdf#1', { ...picture, images: 0, pages: 100 }, undefined],
  ])('counts the actual content: case %#', (source, counts, mediaType) => {
    const meter = new PromptMeter();
    meter.addImage(source, mediaType);
    expect(meter.size()).toMatchObject(counts);
  });

  it('counts the same when sent as a document', () => {
    const meter = new PromptMeter();
    meter.addDocument(`data:video/mp4;base64,${data}`);
    meter.addDocument('https://a.test/a.mov');
    expect(meter.size()).toMatchObject({ pages: 20_000 });
  });
});

describe(promptTokensOf.name, () => {
  const size = { tokens: 10, characters: 30, images: 2, pages: 3, audioSeconds: 4 };

  it("counts media by the model's figures, else by the defaults", () => {
    expect(promptTokensOf({ ...size, images: 0, pages: 0, audioSeconds: 0 })).toBe(10);
    expect(promptTokensOf(size)).toBe(10 + 2 * 5_000 + 3 * 5_000 + 4 * 32);
    expect(promptTokensOf(size, { image: 100, page: 7, audio_second: 1 })).toBe(10 + 200 + 21 + 4);
  });
});

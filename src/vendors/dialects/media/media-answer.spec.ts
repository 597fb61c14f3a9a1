import { describe, expect, it } from '@jest/globals';
import { readAll, sourceOf } from '../../../../test/support/artifact-bytes.js';
import { Canceller } from '../../../canonical/cancel-signal.js';
import { MediaAnswer } from './media-answer.js';
import { MediaMemory } from './media-memory.js';

const PICTURE = Buffer.concat([
  Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
  Buffer.alloc(60_001, 'a picture'),
]);
const BASE64 = PICTURE.toString('base64');

const inPieces = (text: string, bytes: number): Buffer[] => {
  const all = Buffer.from(text);
  const count = Math.ceil(all.length / bytes);
  return Array.from({ length: count }, (_, index) =>
    all.subarray(index * bytes, (index + 1) * bytes),
  );
};
const read = (text: string, bytes = 4_096): Promise<MediaAnswer> =>
  MediaAnswer.read(
    sourceOf(...inPieces(text, bytes)),
    'an answer',
    1_000_000,
    new MediaMemory().enter(new Canceller()),
  );

describe(MediaAnswer.name, () => {
  it.each([61, 1_000, 4_096, 65_536, 1_000_000])(
    'parses an answer in pieces of %d bytes like a parser, except for long texts',
    async (bytes) => {
      const short = { said: 'a "quote" \\', '\\': '', list: ['é', '\\"'], 'a"': { n: 1.5 } };
      const escaped = 'with a " in it'.repeat(2_000);
      const text = JSON.stringify({ ...short, escaped, picture: BASE64, end: ['}'] });
      const answer = await read(text, bytes);
      const { picture, ...rest } = answer.json;
      expect(rest).toEqual({ ...short, escaped, end: ['}'] });
      expect(String(picture).length).toBeLessThan(10);
      const file = answer.fileOf(picture, undefined, 100_000);
      expect(file.contentType).toBe('image/png');
      expect((await readAll(file.bytes)).equals(PICTURE)).toBe(true);
    },
  );

  it('streams a file as received, without delaying other work', async () => {
    const answer = await read(JSON.stringify([BASE64]).replace('[', '{"a":').replace(']', '}'));
    const pieces: number[] = [];
    for await (const { length } of answer.fileOf(answer.json.a, undefined, 100_000).bytes) {
      pieces.push(length);
    }
    expect(Math.max(...pieces)).toBeLessThanOrEqual(4_096);
  });

  it.each([
    ['short', PICTURE.subarray(0, 12)],
    ['long', PICTURE],
    ['of another remainder', PICTURE.subarray(0, -1)],
    ['of a third remainder', PICTURE.subarray(0, -2)],
  ])('finds files in data URLs: %s', async (_what, bytes) => {
    const url = `data:image/png;base64,${bytes.toString('base64')}`;
    const answer = await read(JSON.stringify({ url, other: 'https://example.com/a.png' }));
    expect(answer.isFile(answer.json.url as string)).toBe(true);
    expect(answer.isFile(answer.json.other as string)).toBe(false);
    const file = answer.fileOf(answer.json.url, 'image/webp', 100_000);
    expect(file.contentType).toBe('image/webp');
    expect((await readAll(file.bytes)).equals(bytes)).toBe(true);
  });

  it.each([
    ['a number', 7],
    ['an empty text', ''],
    ['too many bytes', Buffer.alloc(90_001).toString('base64')],
    ['an unknown type', 'a'.repeat(30_000)],
  ])('rejects a file of %s', async (_what, file) => {
    const answer = await read(JSON.stringify({ file }));
    expect(() => answer.fileOf(answer.json.file, undefined, 90_000)).toThrow(
      expect.objectContaining({ failure: 'unreadable' }),
    );
  });

  it.each([
    ['blanks', `${BASE64.slice(0, 40_000)} ${BASE64.slice(40_000)}`],
    ['padding', `${BASE64.slice(0, 40_000)}=${BASE64.slice(40_000)}`],
    ['other letters', `${BASE64.slice(0, -1)}é`],
  ])('rejects base64 with %s in it', async (_what, file) => {
    const answer = await read(JSON.stringify({ file }));
    const { bytes } = answer.fileOf(answer.json.file, 'image/png', 100_000);
    await expect(readAll(bytes)).rejects.toMatchObject({ failure: 'unreadable' });
  });

  it.each([`{"a":"${BASE64}`, `{"a":"${BASE64}"`, '[]', '', '{"a":"\\'])(
    'rejects truncated answers and other types: case %#',
    async (text) => {
      await expect(read(text)).rejects.toMatchObject({ failure: 'unreadable' });
    },
  );
});

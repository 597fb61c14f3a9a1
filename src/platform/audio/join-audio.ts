import { randomUUID } from 'node:crypto';
import { open, unlink, type FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AudioFormatError, type AudioJoiner, PlainJoiner } from './audio-joiner.js';
import { FlacJoiner } from './flac-joiner.js';
import { ADTS_FRAMES, FrameJoiner, MP3_FRAMES } from './mpeg-frames.js';
import { OpusJoiner } from './opus-joiner.js';
import { WaveJoiner } from './wave-file.js';

const READ_BYTES = 64 * 1024;
/** Samples of 16 bits in one channel, as everywhere in speech. */
const PCM_FRAME_BYTES = 2;

const JOINERS: ReadonlyMap<string, () => AudioJoiner> = new Map<string, () => AudioJoiner>([
  ['mp3', () => new FrameJoiner(MP3_FRAMES)],
  ['aac', () => new FrameJoiner(ADTS_FRAMES)],
  ['opus', () => new OpusJoiner()],
  ['flac', () => new FlacJoiner()],
  ['wav', () => new WaveJoiner()],
  ['pcm', () => new PlainJoiner(PCM_FRAME_BYTES)],
]);

/**
 * One file of the pieces, which a decoder plays to the end as if it had been made at once. Pieces are
 * read in order and no faster than the result is; of formats whose header tells the length the body
 * waits in a temporary file.
 *
 * @throws AudioFormatError for pieces that are not of the format, or do not fit together
 */
export async function* joinAudio(
  format: string,
  pieces: AsyncIterable<AsyncIterable<Buffer>>,
): AsyncGenerator<Buffer> {
  const joiner = JOINERS.get(format)?.();
  if (!joiner) throw new AudioFormatError(`${format} cannot be joined`);
  const body = bodyOf(joiner, pieces);
  if (!joiner.header) yield* body;
  else yield* behindHeader(body, () => joiner.header!());
}

async function* bodyOf(
  joiner: AudioJoiner,
  pieces: AsyncIterable<AsyncIterable<Buffer>>,
): AsyncGenerator<Buffer> {
  for await (const piece of pieces) {
    for await (const bytes of piece) yield* joiner.push(bytes);
    yield* joiner.endPiece();
  }
  yield* joiner.end();
}

async function* behindHeader(
  body: AsyncIterable<Buffer>,
  header: () => Buffer,
): AsyncGenerator<Buffer> {
  const file = await openNameless();
  try {
    for await (const bytes of body) await file.writeFile(bytes);
    yield header();
    for (let position = 0; ;) {
      const chunk = Buffer.alloc(READ_BYTES);
      const { bytesRead } = await file.read(chunk, 0, READ_BYTES, position);
      if (bytesRead === 0) return;
      position += bytesRead;
      yield chunk.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}

/** A file that is gone as soon as it is closed, however the process ends. */
async function openNameless(): Promise<FileHandle> {
  const path = join(tmpdir(), `gateway-audio-${randomUUID()}`);
  const file = await open(path, 'wx+', 0o600);
  await unlink(path);
  return file;
}

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
/** One channel of 16-bit samples, as in all speech. */
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
 * Joins pieces into one file that plays like a single recording. Reads the pieces in order, no faster than
 * the result is consumed. If the format's header contains the length, the body waits in a temporary file.
 *
 * @throws AudioFormatError for pieces in another format, or in formats that do not match
 */
export async function* joinAudio(
  format: string,
  pieces: AsyncIterable<AsyncIterable<Buffer>>,
): AsyncGenerator<Buffer> {
  const joiner = JOINERS.get(format)?.();
  if (!joiner) throw new AudioFormatError(`${format} cannot be joined`);
  const body = bodyOf(joiner, pieces);
  if (!joiner.header) yield* body;
  else yield* afterHeader(body, () => joiner.header!());
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

async function* afterHeader(
  body: AsyncIterable<Buffer>,
  header: () => Buffer,
): AsyncGenerator<Buffer> {
  const file = await openUnlinked();
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

/** Opens a file that disappears when it is closed, even if the process is killed. */
async function openUnlinked(): Promise<FileHandle> {
  const path = join(tmpdir(), `gateway-audio-${randomUUID()}`);
  const file = await open(path, 'wx+', 0o600);
  await unlink(path);
  return file;
}

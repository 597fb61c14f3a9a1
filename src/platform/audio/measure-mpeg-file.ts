import { open } from 'node:fs/promises';
import { isMpegSync, isMpegTable, readMpegFrame } from './mpeg-frames.js';

const WINDOW_BYTES = 1024 * 1024;
/** More than any frame, so that a table at the start of one is whole. */
const MARGIN_BYTES = 4 * 1024;
const TAG_BYTES = 10;

/**
 * The length of an MP3 file by its frames, whatever a table in front of them claims, in whole
 * milliseconds rounded up; undefined where there are none. What lies between frames is passed over,
 * as players do.
 */
export async function measureMpegFile(path: string): Promise<number | undefined> {
  const file = await open(path, 'r');
  const window = Buffer.allocUnsafe(WINDOW_BYTES);
  let ms = 0;
  let frames = 0;
  let position = 0;
  try {
    for (;;) {
      const { bytesRead } = await file.read(window, 0, WINDOW_BYTES, position);
      const bytes = window.subarray(0, bytesRead);
      const isLast = bytesRead < WINDOW_BYTES;
      const end = isLast ? bytesRead : bytesRead - MARGIN_BYTES;
      let offset = 0;
      while (offset < end) {
        const frame = readMpegFrame(bytes, offset);
        if (!frame) {
          offset = skipGarbage(bytes, offset);
          continue;
        }
        const rest = bytes.subarray(offset, offset + frame.length);
        if (frames > 0 || !isMpegTable(rest, frame)) ms += frame.durationMs;
        frames++;
        offset += frame.length;
      }
      if (isLast) break;
      position += offset;
    }
  } finally {
    await file.close();
  }
  return ms > 0 ? Math.ceil(Number(ms.toFixed(3))) : undefined;
}

/** Where the next frame may begin; a tag that stands where a frame should is skipped by its length. */
function skipGarbage(bytes: Buffer, offset: number): number {
  if (bytes.toString('latin1', offset, offset + 3) === 'ID3') {
    const [a = 0, b = 0, c = 0, d = 0] = bytes.subarray(offset + 6, offset + TAG_BYTES);
    return offset + TAG_BYTES + ((a << 21) | (b << 14) | (c << 7) | d);
  }
  let next = offset + 1;
  while (next < bytes.length && !isMpegSync(bytes, next)) next++;
  return next;
}

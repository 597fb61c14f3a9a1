import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { crc32, deflate } from 'node:zlib';

const compress = promisify(deflate);

const SIGNATURE = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
const COLOURS = 16;
/** Width of a stripe in pixels. */
const STRIPE = 32;

export interface ImageOptions {
  width: number;
  height: number;
  /** Determines the colours. */
  subject: string;
}

/** Draws slanted stripes as PNG, in colours that depend only on the subject. */
export async function makeImage({ width, height, subject }: ImageOptions): Promise<Buffer> {
  const palette = createHash('sha384')
    .update(subject)
    .digest()
    .subarray(0, COLOURS * 3);
  const pattern = Uint8Array.from(
    { length: width + height },
    (_, index) => Math.floor(index / STRIPE) % COLOURS,
  );
  const rows = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; y++) {
    // Each row starts with its filter byte: none.
    rows.set(pattern.subarray(y, y + width), y * (width + 1) + 1);
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // Eight bits per pixel, with a palette.
  header.set([8, 3, 0, 0, 0], 8);
  const title = Buffer.from('Description\0Sandbox picture', 'latin1');
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('PLTE', palette),
    chunk('tEXt', title),
    chunk('IDAT', await compress(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const check = Buffer.alloc(4);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, check]);
}

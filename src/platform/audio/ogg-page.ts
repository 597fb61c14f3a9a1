/** A page of an Ogg file. */
export interface OggPage {
  /** Bytes of the whole page. */
  length: number;
  flags: number;
  /** Samples up to the end of the last packet that ends here; -1 where none does. */
  granule: bigint;
  /** Lengths of the pieces that packets are cut into; one below 255 ends its packet. */
  lacing: Buffer;
  data: Buffer;
}

export const OGG_CONTINUED = 1;
export const OGG_LAST = 4;

const HEADER_BYTES = 27;

/** The page at the start of the bytes; `short` where more are needed, undefined where no page begins. */
export function readOggPage(bytes: Buffer): OggPage | 'short' | undefined {
  if (bytes.length < HEADER_BYTES) return 'short';
  if (bytes.toString('latin1', 0, 4) !== 'OggS' || bytes[4] !== 0) return undefined;
  const dataOffset = HEADER_BYTES + bytes[26]!;
  if (bytes.length < dataOffset) return 'short';
  const lacing = bytes.subarray(HEADER_BYTES, dataOffset);
  const length = lacing.reduce((sum, part) => sum + part, dataOffset);
  if (bytes.length < length) return 'short';
  return {
    length,
    flags: bytes[5]!,
    granule: bytes.readBigInt64LE(6),
    lacing,
    data: bytes.subarray(dataOffset, length),
  };
}

/** A page with its checksum. */
export function writeOggPage(
  { flags, granule, lacing, data }: Omit<OggPage, 'length'>,
  serial: number,
  sequence: number,
): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.write('OggS', 0, 'latin1');
  header[5] = flags;
  header.writeBigInt64LE(granule, 6);
  header.writeUInt32LE(serial, 14);
  header.writeUInt32LE(sequence, 18);
  header[26] = lacing.length;
  const page = Buffer.concat([header, lacing, data]);
  page.writeUInt32LE(checksum(page), 22);
  return page;
}

const TABLE = Uint32Array.from({ length: 256 }, (_, index) => {
  let value = index << 24;
  for (let bit = 0; bit < 8; bit++) value = (value << 1) ^ (value < 0 ? 0x04c11db7 : 0);
  return value >>> 0;
});

function checksum(bytes: Buffer): number {
  let value = 0;
  for (const byte of bytes) value = (value << 8) ^ TABLE[(value >>> 24) ^ byte]!;
  return value >>> 0;
}

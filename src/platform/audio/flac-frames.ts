/** Offset of a frame's number. */
export const NUMBER_OFFSET = 4;

/** Longest frame header. */
export const MAX_HEADER_BYTES = 16;

const CRC8 = crcTable(8, 0x07);

/** Samples per second by rate code; code 0 means the stream's rate. */
const KNOWN_RATES: readonly number[] = [
  ...[0, 88_200, 176_400, 192_000, 8_000, 16_000],
  ...[22_050, 24_000, 32_000, 44_100, 48_000, 96_000],
];
/** Units of explicit rates, from code 12 on. */
const RATE_UNITS: readonly number[] = [1_000, 1, 10];

/** The parts of a frame's header that are needed. */
export interface FlacFrameHeader {
  /** Bytes of the header, including its checksum. */
  length: number;
  /** Samples of one channel. */
  blockSize: number;
  /** Samples per second; 0 for the stream's rate. */
  sampleRate: number;
  /** Offset after the frame's number, which begins at byte 4. */
  numberEnd: number;
}

/** Reads a frame header; `short` when more bytes are needed, undefined when there is none. */
export function readFlacFrame(
  bytes: Buffer,
  offset: number,
): FlacFrameHeader | 'short' | undefined {
  if (bytes.length - offset < MAX_HEADER_BYTES) return 'short';
  const header = bytes.subarray(offset, offset + MAX_HEADER_BYTES);
  if (header[0] !== 0xff || (header[1]! & 0xfe) !== 0xf8) return undefined;
  const sizeCode = header[2]! >> 4;
  const rateCode = header[2]! & 15;
  const channelCode = header[3]! >> 4;
  if (sizeCode === 0 || rateCode === 15 || channelCode > 10 || (header[3]! & 1) === 1) {
    return undefined;
  }
  const numberBytes = numberLength(header[NUMBER_OFFSET]!);
  if (numberBytes === undefined) return undefined;
  const numberEnd = NUMBER_OFFSET + numberBytes;
  const sizeBytes = sizeCode === 6 ? 1 : sizeCode === 7 ? 2 : 0;
  const rateBytes = rateCode === 12 ? 1 : rateCode === 13 || rateCode === 14 ? 2 : 0;
  const length = numberEnd + sizeBytes + rateBytes + 1;
  if (crc8(header.subarray(0, length - 1)) !== header[length - 1]) return undefined;
  const given = sizeBytes === 0 ? 0 : header.readUIntBE(numberEnd, sizeBytes) + 1;
  return {
    length,
    numberEnd,
    blockSize: sizeBytes === 0 ? knownSize(sizeCode) : given,
    sampleRate:
      rateBytes === 0
        ? KNOWN_RATES[rateCode]!
        : header.readUIntBE(numberEnd + sizeBytes, rateBytes) * RATE_UNITS[rateCode - 12]!,
  };
}

function knownSize(code: number): number {
  if (code === 1) return 192;
  return code <= 5 ? 576 << (code - 2) : 256 << (code - 8);
}

/** Returns the bytes of a number, which is encoded like the original UTF-8 of up to 36 bits. */
function numberLength(first: number): number | undefined {
  if (first < 0x80) return 1;
  const ones = Math.clz32(~(first << 24));
  return ones >= 2 && ones <= 7 ? ones : undefined;
}

/** Returns the checksum of a header. */
export function crc8(bytes: Buffer): number {
  let value = 0;
  for (const byte of bytes) value = CRC8[value ^ byte]!;
  return value;
}

/** Returns the checksum table of a polynomial. */
export function crcTable(bits: number, polynomial: number): Uint16Array {
  const top = 1 << (bits - 1);
  const mask = (1 << bits) - 1;
  return Uint16Array.from({ length: 256 }, (_, index) => {
    let value = index << (bits - 8);
    for (let bit = 0; bit < 8; bit++) {
      value = (value & top ? (value << 1) ^ polynomial : value << 1) & mask;
    }
    return value;
  });
}

/** Where the parts of a frame's header lie, and what is needed of them. */
export interface FlacFrameHeader {
  /** Bytes of the header, its checksum included. */
  length: number;
  /** Samples of one channel. */
  blockSize: number;
  /** Where the frame's number ends; it begins at byte 4. */
  numberEnd: number;
}

const NUMBER_OFFSET = 4;
const MAX_HEADER_BYTES = 16;

/** A frame's header at the offset; `short` where more bytes are needed, undefined where none is. */
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
  return { length, numberEnd, blockSize: sizeBytes === 0 ? knownSize(sizeCode) : given };
}

/** Whether a frame is whole, by the checksum at its end. */
export function isWholeFlacFrame(frame: Buffer): boolean {
  return frame.length > 2 && crc16(frame.subarray(0, -2)) === frame.readUInt16BE(frame.length - 2);
}

/** The same frame, numbered by its first sample as in streams whose blocks differ in size. */
export function renumberFlacFrame(
  frame: Buffer,
  { length, numberEnd }: FlacFrameHeader,
  firstSample: number,
): Buffer {
  const head = Buffer.concat([
    Buffer.from([0xff, 0xf9]),
    frame.subarray(2, NUMBER_OFFSET),
    spellNumber(firstSample),
    frame.subarray(numberEnd, length - 1),
  ]);
  const body = Buffer.concat([head, Buffer.from([crc8(head)]), frame.subarray(length, -2)]);
  const check = Buffer.alloc(2);
  check.writeUInt16BE(crc16(body));
  return Buffer.concat([body, check]);
}

function knownSize(code: number): number {
  if (code === 1) return 192;
  return code <= 5 ? 576 << (code - 2) : 256 << (code - 8);
}

/** Numbers are spelled as UTF-8 was once meant to go on, up to 36 bits. */
function numberLength(first: number): number | undefined {
  if (first < 0x80) return 1;
  const ones = Math.clz32(~(first << 24));
  return ones >= 2 && ones <= 7 ? ones : undefined;
}

function spellNumber(value: number): Buffer {
  if (value < 0x80) return Buffer.from([value]);
  const bytes: number[] = [];
  let rest = value;
  let room = 0x3f;
  while (rest > room) {
    bytes.unshift(0x80 | (rest % 64));
    rest = Math.floor(rest / 64);
    room >>= 1;
  }
  const mark = (0xfe << (6 - bytes.length)) & 0xff;
  return Buffer.from([mark | rest, ...bytes]);
}

const CRC8 = table(8, 0x07);
const CRC16 = table(16, 0x8005);

function crc8(bytes: Buffer): number {
  let value = 0;
  for (const byte of bytes) value = CRC8[value ^ byte]!;
  return value;
}

function crc16(bytes: Buffer): number {
  let value = 0;
  for (const byte of bytes) value = ((value << 8) & 0xffff) ^ CRC16[(value >> 8) ^ byte]!;
  return value;
}

function table(bits: number, polynomial: number): Uint16Array {
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

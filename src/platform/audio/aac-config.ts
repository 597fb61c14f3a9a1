/** What a decoder is told of sound: samples of a frame, and how many there are in a second. */
export interface FrameTraits {
  readonly samplesOfFrame: number;
  readonly sampleRate: number;
}

const DECODER_CONFIG = 0x04;
const DECODER_SPECIFIC = 0x05;
/** What stands in a descriptor before those within it. */
const STREAM_BYTES = 3;
const DECODER_BYTES = 13;

/** What the vendor of a codec calls AAC; 0x66 to 0x68 are those of MPEG-2. */
const AAC: ReadonlySet<number> = new Set([0x40, 0x66, 0x67, 0x68]);
/** Main, LC, SSR, LTP, and LC with its replicated bands and stereo, whose frames are those of LC. */
const LONG_FRAMES: ReadonlySet<number> = new Set([1, 2, 3, 4, 5, 29]);
/** Samples a second by a header's four bits; more are none. */
export const AAC_SAMPLE_RATES: readonly number[] = [
  ...[96_000, 88_200, 64_000, 48_000, 44_100, 32_000],
  ...[24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350],
];
const SPELLED_RATE = 15;

/**
 * The frames that an `esds` box of MP4 announces, which a decoder goes by whatever stands around it. Undefined
 * for anything but AAC with frames of 1,024 samples.
 */
export function readAacConfig(box: Buffer): FrameTraits | undefined {
  // Version and flags come first, then descriptors, each within the one before.
  let at = 4;
  let isAac = false;
  for (;;) {
    const tag = box[at++];
    while (at < box.length && (box[at]! & 0x80) !== 0) at++;
    at++;
    if (tag === undefined || at >= box.length) return undefined;
    if (tag === DECODER_SPECIFIC) return isAac ? readSpecific(box.subarray(at)) : undefined;
    if (tag === DECODER_CONFIG) {
      isAac = AAC.has(box[at]!);
      at += DECODER_BYTES;
    } else if (box[at + 2] !== 0) {
      // A stream that depends on another one, or lies elsewhere.
      return undefined;
    } else {
      at += STREAM_BYTES;
    }
  }
}

/** Five bits of what it is, four of its rate, or 24 more where that is spelled out. */
function readSpecific(bytes: Buffer): FrameTraits | undefined {
  if (bytes.length < 2) return undefined;
  const type = bytes[0]! >> 3;
  const code = (bytes.readUInt16BE(0) >> 7) & 15;
  if (!LONG_FRAMES.has(type)) return undefined;
  const isSpelled = code === SPELLED_RATE && bytes.length >= 5;
  const sampleRate = isSpelled
    ? (bytes.readUIntBE(1, 4) >>> 7) & 0xff_ffff
    : AAC_SAMPLE_RATES[code];
  return sampleRate ? { samplesOfFrame: 1_024, sampleRate } : undefined;
}

/** Samples per frame and per second of a stream. */
export interface FrameTraits {
  readonly samplesOfFrame: number;
  readonly sampleRate: number;
}

const DECODER_CONFIG = 0x04;
const DECODER_SPECIFIC = 0x05;
/** Bytes of a descriptor before the nested ones. */
const STREAM_BYTES = 3;
const DECODER_BYTES = 13;

/** Object type indications of AAC: 0x40 of MPEG-4, 0x66 to 0x68 of MPEG-2. */
const AAC: ReadonlySet<number> = new Set([0x40, 0x66, 0x67, 0x68]);
/** Main, LC, SSR, LTP, and LC with SBR and parametric stereo, whose frames are those of LC. */
const LONG_FRAMES: ReadonlySet<number> = new Set([1, 2, 3, 4, 5, 29]);
/** Samples per second by a header's four-bit code; higher codes are reserved. */
export const AAC_SAMPLE_RATES: readonly number[] = [
  ...[96_000, 88_200, 64_000, 48_000, 44_100, 32_000],
  ...[24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350],
];
const EXPLICIT_RATE = 15;

/**
 * Reads the frame format from an `esds` box of MP4, which decoders follow whatever the rest of the file
 * says. Undefined for anything but AAC with frames of 1,024 samples.
 */
export function readAacConfig(box: Buffer): FrameTraits | undefined {
  // After version and flags come nested descriptors.
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
      // Depends on another stream, or is stored elsewhere.
      return undefined;
    } else {
      at += STREAM_BYTES;
    }
  }
}

/** Reads five bits of object type and four of rate, or 24 more for an explicit rate. */
function readSpecific(bytes: Buffer): FrameTraits | undefined {
  if (bytes.length < 2) return undefined;
  const type = bytes[0]! >> 3;
  const code = (bytes.readUInt16BE(0) >> 7) & 15;
  if (!LONG_FRAMES.has(type)) return undefined;
  const isExplicit = code === EXPLICIT_RATE && bytes.length >= 5;
  const sampleRate = isExplicit
    ? (bytes.readUIntBE(1, 4) >>> 7) & 0xff_ffff
    : AAC_SAMPLE_RATES[code];
  return sampleRate ? { samplesOfFrame: 1_024, sampleRate } : undefined;
}

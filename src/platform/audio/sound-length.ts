/** Compressed with loss, nothing that people record has more than 512 kbit/s; */
export const MAX_LOSSY_BYTES_PER_MS = 64;
/** without loss, more than 24 bits in stereo at 192 kHz; */
export const MAX_LOSSLESS_BYTES_PER_MS = 1_152;
/** and with a picture that moves, more than 20 Mbit/s. */
export const MAX_VIDEO_BYTES_PER_MS = 2_500;

/** How long a file's sound is, in milliseconds, in its own words and by what a decoder finds in it. */
export interface SoundLength {
  /** Undefined where it does not say. */
  readonly claimedMs: number | undefined;
  /** Undefined where not all of it can be counted. */
  readonly countedMs: number | undefined;
  /** What a millisecond of it has at most. */
  readonly maxBytesPerMs: number;
}

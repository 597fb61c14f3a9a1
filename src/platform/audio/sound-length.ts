/** Highest bit rate of lossy recordings: 512 kbit/s. */
export const MAX_LOSSY_BYTES_PER_MS = 64;
/** Highest bit rate of lossless recordings: 24-bit stereo at 192 kHz. */
export const MAX_LOSSLESS_BYTES_PER_MS = 1_152;
/** Highest bit rate of videos: 20 Mbit/s. */
export const MAX_VIDEO_BYTES_PER_MS = 2_500;

/** Length of a file's sound in milliseconds, as claimed by its metadata and as counted. */
export interface SoundLength {
  /** Undefined without metadata. */
  readonly claimedMs: number | undefined;
  /** Undefined when the sound cannot be counted completely. */
  readonly countedMs: number | undefined;
  /** Most bytes of one millisecond. */
  readonly maxBytesPerMs: number;
}

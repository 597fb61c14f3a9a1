/** A frame of MPEG audio layer 3. */
export interface MpegFrame {
  /** Bytes, header included. */
  length: number;
  /** Where its audio begins, behind header, checksum and side information. */
  audioOffset: number;
}

const BITRATES_1 = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320];
const BITRATES_2 = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160];
const SAMPLE_RATES = [44_100, 48_000, 32_000];

/** Reads a frame's header of four bytes; undefined where none is. */
export function readMpegFrame(bytes: Buffer, offset: number): MpegFrame | undefined {
  const [first = 0, second = 0, third = 0, fourth = 0] = bytes.subarray(offset, offset + 4);
  // Eleven bits of sync, layer 3, and no version that is reserved.
  if (first !== 0xff || (second & 0xe6) !== 0xe2 || (second & 0x18) === 0x08) return undefined;
  const isVersion1 = (second & 0x18) === 0x18;
  const halvings = isVersion1 ? 0 : (second & 0x18) === 0x10 ? 1 : 2;
  const kilobits = (isVersion1 ? BITRATES_1 : BITRATES_2)[third >> 4];
  const sampleRate = SAMPLE_RATES[(third >> 2) & 3];
  // Frames of free format do not tell their length, and nobody makes them.
  if (kilobits === undefined || kilobits === 0 || sampleRate === undefined) return undefined;
  const padding = (third >> 1) & 1;
  const samplesByEight = isVersion1 ? 144 : 72;
  const length =
    Math.floor((samplesByEight * kilobits * 1000) / (sampleRate >> halvings)) + padding;
  const isMono = fourth >> 6 === 3;
  const sideBytes = isVersion1 ? (isMono ? 17 : 32) : isMono ? 9 : 17;
  const checksumBytes = (second & 1) === 0 ? 2 : 0;
  return { length, audioOffset: 4 + checksumBytes + sideBytes };
}

/** Whether a frame holds no sound but a table that tells how long its own file is. */
export function isMpegTable(frame: Buffer, { audioOffset }: MpegFrame): boolean {
  const textAt = (offset: number): string => frame.toString('latin1', offset, offset + 4);
  const mark = textAt(audioOffset);
  return mark === 'Xing' || mark === 'Info' || textAt(36) === 'VBRI';
}

/** Containers of recorded audio that uploads may use. */
export type AudioContainer = 'flac' | 'mp3' | 'mp4' | 'ogg' | 'wav' | 'webm';

interface ContainerTraits {
  /** File name extensions; the first one is added to names without one. */
  readonly extensions: readonly [string, ...string[]];
  readonly contentType: string;
}

export const AUDIO_CONTAINERS: Readonly<Record<AudioContainer, ContainerTraits>> = {
  flac: { extensions: ['flac'], contentType: 'audio/flac' },
  mp3: { extensions: ['mp3', 'mpeg', 'mpga'], contentType: 'audio/mpeg' },
  mp4: { extensions: ['m4a', 'mp4'], contentType: 'audio/mp4' },
  ogg: { extensions: ['ogg', 'oga', 'opus'], contentType: 'audio/ogg' },
  wav: { extensions: ['wav'], contentType: 'audio/wav' },
  webm: { extensions: ['webm'], contentType: 'audio/webm' },
};

/** Returns the container that a file's first bytes announce; undefined for anything else. */
export function sniffAudioContainer(head: Buffer): AudioContainer | undefined {
  const text = (start: number, end: number): string => head.toString('latin1', start, end);
  if (text(0, 4) === 'RIFF' && text(8, 12) === 'WAVE') return 'wav';
  if (text(0, 4) === 'fLaC') return 'flac';
  if (text(0, 4) === 'OggS') return 'ogg';
  if (text(4, 8) === 'ftyp') return 'mp4';
  if (head.length >= 4 && head.readUInt32BE(0) === 0x1a45dfa3) return 'webm';
  if (text(0, 3) === 'ID3' || isMpegLayer3(head)) return 'mp3';
  return undefined;
}

/** Recognizes a frame header of MPEG layer 3. ADTS has the same sync bits and layer 0. */
function isMpegLayer3(head: Buffer): boolean {
  if (head.length < 4 || head[0] !== 0xff || (head[1]! & 0xe6) !== 0xe2) return false;
  const isBadBitrate = (head[2]! & 0xf0) === 0xf0;
  const isBadRate = (head[2]! & 0x0c) === 0x0c;
  return !isBadBitrate && !isBadRate;
}

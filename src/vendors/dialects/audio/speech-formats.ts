/** What each format of spoken text is called in a Content-Type. */
const CONTENT_TYPES: Readonly<Record<string, string>> = {
  mp3: 'audio/mpeg',
  opus: 'audio/opus',
  aac: 'audio/aac',
  flac: 'audio/flac',
  wav: 'audio/wav',
  pcm: 'audio/pcm',
};

export function speechContentType(format: string): string {
  return CONTENT_TYPES[format] ?? 'application/octet-stream';
}

/** `pcm` has no header that says it: 24 kHz, 16 bits, little-endian, one channel. */
export const PCM_FORMAT = { channels: 1, sampleRate: 24_000, bitsPerSample: 16 } as const;

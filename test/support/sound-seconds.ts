import { AudioLengthMeter } from '../../src/vendors/dialects/audio/audio-answer.js';

/** How long a sound of a format lasts, in seconds; 0 where there is none. */
export function soundSeconds(format: string, bytes: Buffer): number {
  const meter = new AudioLengthMeter(format);
  meter.push(bytes);
  return (meter.read() ?? 0) / 1_000;
}

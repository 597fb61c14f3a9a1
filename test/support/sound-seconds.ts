import { AudioLengthMeter } from '../../src/vendors/dialects/audio/audio-answer.js';

/** Returns the duration of a sound in seconds; 0 when there is none. */
export function soundSeconds(format: string, bytes: Buffer): number {
  const meter = new AudioLengthMeter(format);
  meter.push(bytes);
  return (meter.read() ?? 0) / 1_000;
}

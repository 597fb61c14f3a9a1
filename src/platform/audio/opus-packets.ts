/** Returns the samples of a frame at 48 kHz, by the packet's first five bits. */
function frameSamples(configuration: number): number {
  if (configuration < 12) return [480, 960, 1_920, 2_880][configuration & 3]!;
  if (configuration < 16) return [480, 960][configuration & 1]!;
  return [120, 240, 480, 960][configuration & 3]!;
}

/** Returns the samples of an Opus packet at 48 kHz, by its first two bytes. */
export function opusSamples(first: number, second: number): number {
  const code = first & 3;
  const frames = code === 0 ? 1 : code === 3 ? second & 0x3f : 2;
  return frames * frameSamples(first >> 3);
}

import { unsupportedField } from '../dialects/media/unsupported-field.js';

/** Shape and fineness of a picture or a video, in the vendor's words. */
export interface Frame {
  aspectRatio?: string;
  /** `1K`, `2K`, `4K` of pictures; `720p`, `1080p`, `4k` of videos. */
  fineness?: string;
}

/** What one kind of model can make. */
export interface FrameTraits {
  aspectRatios: ReadonlySet<string>;
  /** Each fineness by the length of the side that names it. */
  fineness: readonly (readonly [pixels: number, name: string])[];
  /** Which side that is. */
  side: 'longer' | 'shorter';
}

const SIZE = /^(\d{2,5})x(\d{2,5})$/;
/** Pixels of a side need not be a whole ratio: 1344 by 768 is called 16:9 by the vendor too. */
const RATIO_TOLERANCE = 0.02;

/**
 * The frame that a request asks for by `aspect_ratio`, by `size` or `resolution` in the vendor's words,
 * or by `size` in pixels as other vendors take it.
 *
 * @throws UpstreamError `unsupported` where these models make no such frame
 */
export function readFrame(value: Readonly<Record<string, unknown>>, traits: FrameTraits): Frame {
  const frame: Frame = {};
  if (value.aspect_ratio != null) {
    frame.aspectRatio = readAspectRatio(value.aspect_ratio, traits);
  }
  const sizeField = value.size == null ? 'resolution' : 'size';
  const size = value[sizeField];
  if (size == null || size === 'auto') return frame;
  const pixels = typeof size === 'string' ? SIZE.exec(size) : undefined;
  if (!pixels) return { ...frame, fineness: readFineness(size, traits, sizeField) };
  const [width, height] = [Number(pixels[1]), Number(pixels[2])];
  const aspectRatio = nearestRatio(width / height, traits);
  if (aspectRatio === undefined || (frame.aspectRatio ?? aspectRatio) !== aspectRatio) {
    throw unsupportedField('size', 'This provider makes no pictures or videos of that shape.');
  }
  const side = traits.side === 'longer' ? Math.max(width, height) : Math.min(width, height);
  const fineness = traits.fineness.find(([most]) => side <= most)?.[1];
  if (fineness === undefined && traits.fineness.length > 0) {
    throw unsupportedField('size', 'This provider makes nothing that large.');
  }
  return { aspectRatio, ...(fineness !== undefined && { fineness }) };
}

function readAspectRatio(ratio: unknown, { aspectRatios }: FrameTraits): string {
  if (typeof ratio === 'string' && aspectRatios.has(ratio)) return ratio;
  throw unsupportedField('aspect_ratio', `Aspect ratios are ${[...aspectRatios].join(', ')}.`);
}

function readFineness(size: unknown, { fineness }: FrameTraits, field: string): string {
  const found = fineness.find(
    ([, name]) => typeof size === 'string' && name.toLowerCase() === size.toLowerCase(),
  );
  if (found) return found[1];
  throw unsupportedField(field, 'This provider has no such size.');
}

function nearestRatio(wanted: number, { aspectRatios }: FrameTraits): string | undefined {
  return [...aspectRatios].find((ratio) => {
    const [width = 1, height = 1] = ratio.split(':').map(Number);
    return Math.abs(wanted / (width / height) - 1) <= RATIO_TOLERANCE;
  });
}

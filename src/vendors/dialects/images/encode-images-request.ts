import type { ImageRequest } from '../../../canonical/work-request.js';
import { vendorFields } from '../media/media-fields.js';
import { unsupportedField } from '../media/unsupported-field.js';

/**
 * Fields that have no place on shared capacity: files in the vendor account, pictures to start from,
 * which the address for plain prompts does not take, and what costs more than the catalogue's price.
 */
const REFUSED: ReadonlySet<string> = new Set([
  'image',
  'images',
  'mask',
  'input_reference',
  'file_id',
  'partial_images',
  'svg',
  'frame_count',
  'frame_duration_ms',
]);
/** Drawings are written, and films rendered, by further models that are billed apart. */
const FORMATS: ReadonlySet<unknown> = new Set(['png', 'jpeg', 'webp']);

/**
 * A body for `images/generations`. Fields that the gateway does not know go along: the dialect is the
 * caller's.
 *
 * @param asksForBytes of models that would give an address otherwise; the others take no word on it
 * @throws UpstreamError `unsupported` for a field that cannot be left out without changing the work
 */
export function encodeImagesRequest(
  request: ImageRequest,
  upstreamModel: string,
  asksForBytes: boolean,
): Buffer {
  const fields = vendorFields(request.body.value).filter(([name]) => name !== 'n');
  for (const [name, value] of fields) {
    if (REFUSED.has(name)) throw unsupportedField(name, `\`${name}\` is not taken here.`);
    if (name === 'output_format' && !FORMATS.has(value)) {
      throw unsupportedField(name, 'Pictures are made as png, jpeg or webp.');
    }
  }
  return Buffer.from(
    JSON.stringify({
      ...Object.fromEntries(fields),
      model: upstreamModel,
      prompt: request.prompt,
      n: request.count,
      ...(asksForBytes && { response_format: 'b64_json' }),
    }),
  );
}

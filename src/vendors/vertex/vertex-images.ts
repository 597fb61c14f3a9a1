import type { ImageRequest } from '../../canonical/work-request.js';
import { NO_USAGE } from '../../canonical/usage.js';
import { isJsonObject, type JsonObject } from '../../platform/http/json-body.js';
import { objectsOf } from '../dialects/answer-json.js';
import { readUsageMetadata } from '../dialects/generate-content/answer-reader.js';
import type { MediaAnswer } from '../dialects/media/media-answer.js';
import { MAX_IMAGE_BYTES } from '../dialects/media/media-file.js';
import { MediaFailedError, type MediaResult, type MediaFile } from '../media-work.js';
import { unsupported, unreadable } from '../upstream-error.js';

const SIZE = /^(\d{2,5})x(\d{2,5})$/;

/** Sides need not have the exact ratio: the vendor also calls 1344 by 768 16:9. */
const RATIO_TOLERANCE = 0.02;

const IMAGEN: FrameTraits = {
  aspectRatios: new Set(['1:1', '3:4', '4:3', '9:16', '16:9']),
  fineness: [
    [1_408, '1K'],
    [2_816, '2K'],
  ],
  side: 'longer',
};
const GEMINI: FrameTraits = {
  aspectRatios: new Set('1:1 2:3 3:2 3:4 4:3 4:5 5:4 9:16 16:9 21:9'.split(' ')),
  fineness: [
    [1_600, '1K'],
    [3_200, '2K'],
    [6_400, '4K'],
  ],
  side: 'longer',
};
/** The first image model has a single resolution without a name. */
const GEMINI_2: FrameTraits = { ...GEMINI, fineness: [] };

const MAX_REASON_LENGTH = 500;

/** Fields that at least one of these models supports. */
const IMAGEN_FIELDS = new Set(
  'n size aspect_ratio negative_prompt seed output_format output_compression person_generation enhance_prompt add_watermark language'.split(
    ' ',
  ),
);
const GEMINI_FIELDS = new Set(['n', 'size', 'aspect_ratio']);
const OUTPUT_TYPES: ReadonlyMap<unknown, string> = new Map([
  ['png', 'image/png'],
  ['jpeg', 'image/jpeg'],
]);

/** Google's image models on Vertex: Imagen models that predict, and Gemini models that generate. */
interface VertexImageModel {
  readonly method: 'predict' | 'generateContent';
  readonly fields: ReadonlySet<string>;
  /** @throws UpstreamError `unsupported` */
  encode(request: ImageRequest): JsonObject;
  /**
   * @param count the requested number; surplus images are ignored
   * @throws UpstreamError `unreadable`; MediaFailedError when a filter removed all images
   */
  read(answer: MediaAnswer, count: number): MediaResult;
}

export function vertexImageModel(upstreamModel: string): VertexImageModel {
  if (!upstreamModel.startsWith('gemini-')) return IMAGEN_MODEL;
  const traits = upstreamModel.startsWith('gemini-2') ? GEMINI_2 : GEMINI;
  return { ...GEMINI_MODEL, encode: (request) => encodeGemini(request, traits) };
}

const IMAGEN_MODEL: VertexImageModel = {
  method: 'predict',
  fields: IMAGEN_FIELDS,
  encode: encodeImagen,
  read: readImagen,
};

const GEMINI_MODEL: Omit<VertexImageModel, 'encode'> = {
  method: 'generateContent',
  fields: GEMINI_FIELDS,
  read: readGemini,
};

function encodeImagen({ body: { value }, prompt, count }: ImageRequest): JsonObject {
  const { aspectRatio, fineness } = readFrame(value, IMAGEN);
  const mimeType = OUTPUT_TYPES.get(value.output_format);
  if (value.output_format != null && mimeType === undefined) {
    throw unsupported('output_format', 'This provider supports only png and jpeg.');
  }
  const outputOptions = {
    ...(mimeType !== undefined && { mimeType }),
    ...(value.output_compression != null && { compressionQuality: value.output_compression }),
  };
  const given: [string, unknown][] = [
    ['negativePrompt', value.negative_prompt],
    ['aspectRatio', aspectRatio],
    ['sampleImageSize', fineness],
    ['seed', value.seed],
    ['language', value.language],
    ['personGeneration', value.person_generation],
    ['enhancePrompt', value.enhance_prompt],
    ['addWatermark', value.add_watermark],
    ['outputOptions', Object.keys(outputOptions).length > 0 ? outputOptions : undefined],
  ];
  const parameters = Object.fromEntries(given.filter(([, field]) => field != null));
  return {
    instances: [{ prompt }],
    parameters: { sampleCount: count, ...parameters, includeRaiReason: true },
  };
}

function readImagen(answer: MediaAnswer, count: number): MediaResult {
  const predictions = objectsOf(answer.json.predictions);
  const files: MediaFile[] = [];
  let reason: string | undefined;
  for (const { bytesBase64Encoded: base64, mimeType, raiFilteredReason } of predictions) {
    if (typeof raiFilteredReason === 'string') reason ??= raiFilteredReason;
    if (base64 != null && files.length < count) files.push(fileOf(answer, base64, mimeType));
  }
  // When the filter rejects the whole prompt, there are no predictions at all.
  if (files.length === 0) throw filtered(reason);
  return { state: 'done', files, usage: { ...NO_USAGE, imageCount: files.length } };
}

function encodeGemini(
  { body: { value }, prompt, count }: ImageRequest,
  traits: FrameTraits,
): JsonObject {
  if (count !== 1)
    throw unsupported('n', 'This model generates one image per request; set `n` to 1.');
  const { aspectRatio, fineness } = readFrame(value, traits);
  const imageConfig = {
    ...(aspectRatio !== undefined && { aspectRatio }),
    ...(fineness !== undefined && { imageSize: fineness }),
  };
  return {
    contents: [{ role: 'user', parts: [{ text: prompt }] }],
    generationConfig: {
      responseModalities: ['IMAGE'],
      ...(Object.keys(imageConfig).length > 0 && { imageConfig }),
    },
  };
}

function readGemini(answer: MediaAnswer, count: number): MediaResult {
  const { json } = answer;
  const candidates = objectsOf(json.candidates);
  const parts = candidates.flatMap(({ content }) =>
    isJsonObject(content) ? objectsOf(content.parts) : [],
  );
  const files: MediaFile[] = [];
  for (const { inlineData, thought } of parts) {
    // Drafts are reasoning, not part of the answer.
    if (!isJsonObject(inlineData) || thought === true) continue;
    if (files.length === count) break;
    files.push(fileOf(answer, inlineData.data, inlineData.mimeType));
  }
  if (files.length === 0) throw missingImageError(json, candidates);
  const usage = readUsageMetadata(json.usageMetadata) ?? NO_USAGE;
  return { state: 'done', files, usage: { ...usage, imageCount: files.length } };
}

/** Returns the error for a missing image. Filter reasons are words such as `IMAGE_SAFETY`. */
function missingImageError(answer: JsonObject, candidates: readonly JsonObject[]): Error {
  const { promptFeedback } = answer;
  const blocked = isJsonObject(promptFeedback) ? promptFeedback.blockReason : undefined;
  const [first] = candidates;
  const reason: unknown = blocked ?? first?.finishReason;
  const message = isJsonObject(promptFeedback)
    ? promptFeedback.blockReasonMessage
    : first?.finishMessage;
  if (typeof reason !== 'string' || reason === 'MAX_TOKENS') {
    return unreadable('an answer without an image');
  }
  if (reason === 'STOP' || reason === 'NO_IMAGE') {
    return new MediaFailedError(
      'provider_error',
      'The model generated no image for this prompt; ask for one explicitly.',
    );
  }
  return filtered(typeof message === 'string' ? message : reason);
}

/** Creates the error for a result removed by the vendor's filter, with the vendor's reason if any. */
export function filtered(reason: string | undefined): MediaFailedError {
  return new MediaFailedError(
    'content_policy_violation',
    reason === undefined || reason === ''
      ? "The provider's content filter removed everything generated for this prompt."
      : `The provider's content filter removed the result: ${reason.slice(0, MAX_REASON_LENGTH)}`,
  );
}

function fileOf(answer: MediaAnswer, data: unknown, mimeType: unknown): MediaFile {
  const isNamed = typeof mimeType === 'string' && /^image\/[\w.+-]{1,50}$/.test(mimeType);
  return answer.fileOf(data, isNamed ? mimeType : undefined, MAX_IMAGE_BYTES);
}

/** Aspect ratio and resolution of an image or video, in the vendor's terms. */
interface Frame {
  aspectRatio?: string;
  /** `1K`, `2K`, `4K` for images; `720p`, `1080p`, `4k` for videos. */
  fineness?: string;
}

/** The frames that one kind of model supports. */
export interface FrameTraits {
  aspectRatios: ReadonlySet<string>;
  /** Resolution names by the length of the side that defines them. */
  fineness: readonly (readonly [pixels: number, name: string])[];
  /** The side that defines the resolution. */
  side: 'longer' | 'shorter';
}

/**
 * Reads the requested frame from `aspect_ratio`, from `size` or `resolution` in the vendor's terms, or from
 * `size` in pixels like other vendors.
 *
 * @throws UpstreamError `unsupported` when these models do not support it
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
    throw unsupported(
      'size',
      'This provider does not support images or videos of this aspect ratio.',
    );
  }
  const side = traits.side === 'longer' ? Math.max(width, height) : Math.min(width, height);
  const fineness = traits.fineness.find(([most]) => side <= most)?.[1];
  if (fineness === undefined && traits.fineness.length > 0) {
    throw unsupported('size', 'This provider does not support images or videos this large.');
  }
  return { aspectRatio, ...(fineness !== undefined && { fineness }) };
}

function readAspectRatio(ratio: unknown, { aspectRatios }: FrameTraits): string {
  if (typeof ratio === 'string' && aspectRatios.has(ratio)) return ratio;
  throw unsupported(
    'aspect_ratio',
    `\`aspect_ratio\` must be one of ${[...aspectRatios].join(', ')}.`,
  );
}

function readFineness(size: unknown, { fineness }: FrameTraits, field: string): string {
  const found = fineness.find(
    ([, name]) => typeof size === 'string' && name.toLowerCase() === size.toLowerCase(),
  );
  if (found) return found[1];
  throw unsupported(field, 'This provider does not support this size.');
}

function nearestRatio(wanted: number, { aspectRatios }: FrameTraits): string | undefined {
  return [...aspectRatios].find((ratio) => {
    const [width = 1, height = 1] = ratio.split(':').map(Number);
    return Math.abs(wanted / (width / height) - 1) <= RATIO_TOLERANCE;
  });
}

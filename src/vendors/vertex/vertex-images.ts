import type { ImageRequest } from '../../canonical/work-request.js';
import { NO_USAGE } from '../../canonical/usage.js';
import { isJsonObject, type JsonObject } from '../../platform/http/json-body.js';
import { parseChatObject } from '../dialects/chat/parse-chat-object.js';
import { readUsageMetadata } from '../dialects/generate-content/read-usage-metadata.js';
import { fileOfBase64, MAX_IMAGE_BYTES } from '../dialects/media/media-file.js';
import { unsupportedField } from '../dialects/media/unsupported-field.js';
import { MediaFailedError, type MediaDone, type MediaFile } from '../media-work.js';
import { UpstreamError } from '../upstream-error.js';
import { readFrame, type FrameTraits } from './vertex-frame.js';

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
/** The first model that draws has one fineness, and no word for it. */
const GEMINI_2: FrameTraits = { ...GEMINI, fineness: [] };

const MAX_REASON_LENGTH = 500;

/** Fields that some model here has a place for. */
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

/** Google's image models on Vertex: diffusion models that predict, and Gemini models that draw. */
export interface VertexImageModel {
  readonly method: 'predict' | 'generateContent';
  readonly fields: ReadonlySet<string>;
  /** @throws UpstreamError `unsupported` */
  encode(request: ImageRequest): JsonObject;
  /** @throws UpstreamError `unreadable`; MediaFailedError where a filter kept all pictures back */
  read(bytes: Buffer): MediaDone;
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
    throw unsupportedField('output_format', 'This provider makes png and jpeg.');
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

function readImagen(bytes: Buffer): MediaDone {
  const answer = parseChatObject(bytes.toString('utf8'), 'an answer with pictures');
  const predictions = listOf(answer.predictions);
  const files: MediaFile[] = [];
  let reason: string | undefined;
  for (const { bytesBase64Encoded: base64, mimeType, raiFilteredReason } of predictions) {
    if (typeof raiFilteredReason === 'string') reason ??= raiFilteredReason;
    if (base64 != null) files.push(fileOf(base64, mimeType));
  }
  // A prompt that the filter refuses as a whole leaves nothing, not even predictions.
  if (files.length === 0) throw filtered(reason);
  return { state: 'done', files, usage: { ...NO_USAGE, imageCount: files.length } };
}

function encodeGemini(
  { body: { value }, prompt, count }: ImageRequest,
  traits: FrameTraits,
): JsonObject {
  if (count !== 1) throw unsupportedField('n', 'This model makes one picture at a time.');
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

function readGemini(bytes: Buffer): MediaDone {
  const answer = parseChatObject(bytes.toString('utf8'), 'an answer with a picture');
  const candidates = listOf(answer.candidates);
  const parts = candidates.flatMap(({ content }) =>
    isJsonObject(content) ? listOf(content.parts) : [],
  );
  const files: MediaFile[] = [];
  for (const { inlineData, thought } of parts) {
    // Drafts are thoughts, and no part of the answer.
    if (!isJsonObject(inlineData) || thought === true) continue;
    files.push(fileOf(inlineData.data, inlineData.mimeType));
  }
  if (files.length === 0) throw withoutPicture(answer, candidates);
  const usage = readUsageMetadata(answer.usageMetadata) ?? NO_USAGE;
  return { state: 'done', files, usage: { ...usage, imageCount: files.length } };
}

/** The vendor's reasons are words such as `IMAGE_SAFETY`; an end without one is no verdict. */
function withoutPicture(answer: JsonObject, candidates: readonly JsonObject[]): Error {
  const { promptFeedback } = answer;
  const blocked = isJsonObject(promptFeedback) ? promptFeedback.blockReason : undefined;
  const [first] = candidates;
  const reason: unknown = blocked ?? first?.finishReason;
  const message = isJsonObject(promptFeedback)
    ? promptFeedback.blockReasonMessage
    : first?.finishMessage;
  if (typeof reason !== 'string' || reason === 'MAX_TOKENS') {
    return new UpstreamError({ failure: 'unreadable', message: 'an answer without a picture' });
  }
  if (reason === 'STOP' || reason === 'NO_IMAGE') {
    return new MediaFailedError(
      'provider_error',
      'The model made no picture of this prompt; ask for one in plain words.',
    );
  }
  return filtered(typeof message === 'string' ? message : reason);
}

/** A refusal by the vendor's filter, in its own words where it gives some. */
export function filtered(reason: string | undefined): MediaFailedError {
  return new MediaFailedError(
    'content_policy_violation',
    reason === undefined || reason === ''
      ? 'The provider’s filter kept back everything that was made of this prompt.'
      : `The provider’s filter kept it back: ${reason.slice(0, MAX_REASON_LENGTH)}`,
  );
}

function fileOf(data: unknown, mimeType: unknown): MediaFile {
  const isNamed = typeof mimeType === 'string' && /^image\/[\w.+-]{1,50}$/.test(mimeType);
  return fileOfBase64(data, isNamed ? mimeType : undefined, MAX_IMAGE_BYTES);
}

function listOf(value: unknown): JsonObject[] {
  return Array.isArray(value) ? (value as unknown[]).filter(isJsonObject) : [];
}

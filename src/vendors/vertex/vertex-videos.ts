import { MAX_DEFAULT_VIDEO_SECONDS, type VideoRequest } from '../../canonical/work-request.js';
import { NO_USAGE } from '../../canonical/usage.js';
import { type JsonObject } from '../../platform/http/json-body.js';
import { listOf, objectOf, objectsOf } from '../dialects/answer-json.js';
import { classifyInlineGenerateContentError } from '../dialects/generate-content/classify-generate-content-error.js';
import type { MediaAnswer } from '../dialects/media/media-answer.js';
import { MAX_VIDEO_BYTES } from '../dialects/media/media-file.js';
import { MediaFailedError, type MediaProgress } from '../media-work.js';
import { UpstreamError, unsupported, unreadable } from '../upstream-error.js';
import { filtered, readFrame, type FrameTraits } from './vertex-images.js';

const VEO: FrameTraits = {
  aspectRatios: new Set(['16:9', '9:16']),
  fineness: [
    [720, '720p'],
    [1_080, '1080p'],
    [2_160, '4k'],
  ],
  side: 'shorter',
};
export const VIDEO_FIELDS: ReadonlySet<string> = new Set(
  'n seconds size resolution aspect_ratio negative_prompt seed generate_audio person_generation enhance_prompt'.split(
    ' ',
  ),
);
/** Input images and videos, and storage in the operator's account. */
const REFUSED = [
  'image',
  'last_frame',
  'video',
  'input_reference',
  'reference_images',
  'storage_uri',
];
/** The id becomes a path, so no segment may lead upwards. */
const NAME = /^projects(?:\/\w[\w.@:-]*){2,20}\/operations\/\w[\w.-]*$/;
const MAX_SECONDS = 3_600;

/** Encodes a request for one video of known length, returned as bytes rather than in a bucket. */
export function encodeVertexVideo({ body: { value }, prompt, seconds }: VideoRequest): JsonObject {
  for (const field of REFUSED) {
    if (value[field] != null) throw unsupported(field, `\`${field}\` is not supported. Omit it.`);
  }
  if (value.n != null && value.n !== 1) {
    throw unsupported('n', 'Only one video can be generated per request.');
  }
  const { aspectRatio, fineness } = readFrame(value, VEO);
  const given: [string, unknown][] = [
    ['aspectRatio', aspectRatio],
    ['resolution', fineness],
    ['personGeneration', value.person_generation],
    ['negativePrompt', value.negative_prompt],
    ['seed', value.seed],
    ['enhancePrompt', value.enhance_prompt],
    ['generateAudio', value.generate_audio],
  ];
  const parameters = Object.fromEntries(given.filter(([, field]) => field != null));
  return {
    instances: [{ prompt }],
    parameters: { sampleCount: 1, durationSeconds: secondsOf(seconds), ...parameters },
  };
}

/** Reads an operation id. The vendor's answers do not repeat the length, so it is added to the id. */
export function readVertexSubmission(
  { json: { name } }: MediaAnswer,
  { seconds }: VideoRequest,
): MediaProgress {
  if (typeof name !== 'string' || !NAME.test(name)) {
    throw unreadable('an operation without its name');
  }
  return { state: 'running', operation: `${secondsOf(seconds)}:${name}` };
}

export interface VertexOperation {
  name: string;
  /** The model's resource name, before its own `operations/`. */
  resource: string;
  seconds: number;
}

/** @throws UpstreamError `operator` for an id that this adapter did not create */
export function readVertexOperation(operation: string): VertexOperation {
  const match = /^(\d{1,4}):(.+)$/s.exec(operation);
  const name = match?.[2] ?? '';
  if (!match || !NAME.test(name)) {
    throw new UpstreamError({ failure: 'operator', message: 'no operation of this provider' });
  }
  const resource = name.slice(0, name.lastIndexOf('/operations/'));
  return { name, resource, seconds: Number(match[1]) };
}

/**
 * Reads the progress of an operation.
 *
 * @throws MediaFailedError when it failed, and when a filter removed the video
 */
export function readVertexPoll(
  answer: MediaAnswer,
  operation: string,
  seconds: number,
): MediaProgress {
  const { done, error, response: given } = answer.json;
  if (done !== true) return { state: 'running', operation };
  if (error != null) throw failed(error);
  const response = objectOf(given);
  // One was requested; any others would be stored and billed as well.
  const videos = objectsOf(response.videos).slice(0, 1);
  const files = videos.map(({ bytesBase64Encoded: base64, mimeType, gcsUri }) => {
    if (base64 == null && gcsUri != null) {
      throw new MediaFailedError('provider_error', 'The provider returned no downloadable video.');
    }
    const isNamed = typeof mimeType === 'string' && /^video\/[\w.+-]{1,50}$/.test(mimeType);
    return answer.fileOf(base64, isNamed ? mimeType : undefined, MAX_VIDEO_BYTES);
  });
  if (files.length === 0) {
    const [reason] = listOf(response.raiMediaFilteredReasons);
    throw filtered(typeof reason === 'string' ? reason : undefined);
  }
  return { state: 'done', files, usage: { ...NO_USAGE, videoSeconds: seconds } };
}

/** Converts a `google.rpc.Status`, whose code has its own numbering. */
function failed(error: unknown): MediaFailedError {
  const { code, message } = objectOf(error);
  // Redacts keys like in failed answers.
  const { message: shown } = classifyInlineGenerateContentError({ error: { message } });
  const isFilter =
    typeof message === 'string' && /responsible ai|safety|usage guidelines/i.test(message);
  return new MediaFailedError(
    isFilter ? 'content_policy_violation' : (RPC_CODES.get(code) ?? 'provider_error'),
    shown,
  );
}

const RPC_CODES: ReadonlyMap<unknown, string> = new Map([
  [3, 'invalid_argument'],
  [4, 'deadline_exceeded'],
  [8, 'resource_exhausted'],
  [13, 'internal'],
  [14, 'unavailable'],
]);

function secondsOf(seconds: number | undefined): number {
  return Math.min(seconds ?? MAX_DEFAULT_VIDEO_SECONDS, MAX_SECONDS);
}

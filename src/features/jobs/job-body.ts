import {
  findBilledServiceTier,
  notOnSharedCapacity,
  readModelChain,
  readRoutingPreferences,
} from '../../canonical/routing-fields.js';
import type { AccountBoundParam } from '../../canonical/canonical-request.js';
import { readEndUser } from '../../canonical/end-user.js';
import { measureSpeech } from '../../canonical/measure-speech.js';
import {
  MAX_DEFAULT_VIDEO_SECONDS,
  type ImageRequest,
  type MediaRequest,
  type VideoRequest,
  type SpeechRequest,
} from '../../canonical/work-request.js';
import { PromptMeter, countCodePoints, estimateTokens } from '../../canonical/prompt-size.js';
import { NO_USAGE, type Usage } from '../../canonical/usage.js';
import type { JsonObject } from '../../platform/http/json-body.js';
import type { JobModality } from './job.js';

const DEFAULT_VOICE = 'alloy';
const DEFAULT_FORMAT = 'mp3';

/** Fields shared by all job bodies after validation. Unknown fields are forwarded to the vendor. */
export interface MediaBody extends JsonObject {
  prompt?: string | null;
  input?: string | null;
  /** Number of images. */
  n?: number | null;
  /** Length of a video. */
  seconds?: number | string | null;
  voice?: string | { id: string } | null;
  instructions?: string | null;
  speed?: number | null;
  response_format?: string | null;
}

/** Fields that refer to objects in a vendor account, or whose cost the catalogue cannot price. */
const ACCOUNT_BOUND: Readonly<Record<string, string>> = {
  file_id: 'it refers to a file in the vendor account',
  input_reference: 'it refers to an object in the vendor account, or to an image without a price',
  remix_video_id: 'it refers to a video in the vendor account',
  video_id: 'it refers to a video in the vendor account',
  storage_uri: 'it refers to storage in a vendor account',
};

/**
 * Converts a job's body, new or stored, to a media request.
 * @param value a validated body without the gateway's own fields
 * @throws InvalidRequestError naming the invalid field of `models`
 */
export function toMediaRequest(modality: JobModality, value: MediaBody): MediaRequest {
  switch (modality) {
    case 'image':
      return toImageRequest(value);
    case 'video':
      return toVideoRequest(value);
    case 'audio':
      return toSpeechRequest(value);
  }
}

/** Returns the name of the prompt field. */
export function textFieldOf({ prompt }: MediaBody): 'prompt' | 'input' {
  return prompt == null ? 'input' : 'prompt';
}

export function toImageRequest(value: MediaBody): ImageRequest {
  const prompt = textOf(value);
  const count = value.n ?? 1;
  return {
    kind: 'image',
    ...sharedFields(value),
    ...measure(prompt, { imageCount: count }),
    items: count,
    prompt,
    count,
  };
}

function toVideoRequest(value: MediaBody): VideoRequest {
  const prompt = textOf(value);
  const seconds = value.seconds == null ? undefined : Number(value.seconds);
  return {
    kind: 'video',
    ...sharedFields(value),
    ...measure(prompt, { videoSeconds: seconds ?? MAX_DEFAULT_VIDEO_SECONDS }),
    prompt,
    seconds,
  };
}

function toSpeechRequest(value: MediaBody): SpeechRequest {
  const text = textOf(value);
  const voice = value.voice ?? DEFAULT_VOICE;
  const instructions = value.instructions ?? undefined;
  const speed = value.speed ?? undefined;
  const isOwnVoice = typeof voice !== 'string';
  const shared = sharedFields(value);
  return {
    kind: 'speech',
    ...shared,
    accountBoundParam: isOwnVoice
      ? notOnSharedCapacity('voice.id', 'it refers to a voice in the vendor account')
      : shared.accountBoundParam,
    ...measureSpeech(text, instructions ?? '', speed ?? 1),
    text,
    voice: isOwnVoice ? voice.id : voice,
    instructions,
    format: value.response_format ?? DEFAULT_FORMAT,
    speed,
  };
}

function sharedFields(value: JsonObject) {
  return {
    body: { value },
    models: readModelChain(value),
    routing: readRoutingPreferences(value),
    stream: false,
    endUser: readEndUser(value.user),
    accountBoundParam: findAccountBoundField(value),
  };
}

function findAccountBoundField(value: JsonObject): AccountBoundParam | undefined {
  const tier = findBilledServiceTier(value);
  if (tier) return tier;
  const field = Object.keys(ACCOUNT_BOUND).find((name) => value[name] != null);
  return field === undefined ? undefined : notOnSharedCapacity(field, ACCOUNT_BOUND[field]!);
}

export function textOf(value: MediaBody): string {
  return value[textFieldOf(value)] ?? '';
}

function measure(prompt: string, made: Partial<Usage>): { ceiling: Usage; estimate: Usage } {
  const meter = new PromptMeter();
  meter.addText(prompt);
  const inputTokens = estimateTokens(countCodePoints(prompt));
  return {
    ceiling: { ...NO_USAGE, ...made, inputTokens: meter.size().tokens },
    estimate: { ...NO_USAGE, ...made, inputTokens },
  };
}

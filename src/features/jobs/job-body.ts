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

/** What the bodies of all jobs share, as their schemas let it pass; what else stands in one goes to its vendor. */
export interface MediaBody extends JsonObject {
  prompt?: string | null;
  input?: string | null;
  /** Pictures. */
  n?: number | null;
  /** Of a video. */
  seconds?: number | string | null;
  voice?: string | { id: string } | null;
  instructions?: string | null;
  speed?: number | null;
  response_format?: string | null;
}

/** Fields that name things in a vendor account, or cost what the catalogue has no price for. */
const ACCOUNT_BOUND: Readonly<Record<string, string>> = {
  file_id: 'it names a file in the vendor account',
  input_reference: 'it names a thing in the vendor account, or a picture that has no price here',
  remix_video_id: 'it names a video in the vendor account',
  video_id: 'it names a video in the vendor account',
  storage_uri: 'it names a place in a vendor account',
};

/**
 * The request that a job's body stands for; also that of a body that was kept.
 *
 * @param value a body that the schema has let pass, without what is the gateway's alone
 * @throws InvalidRequestError naming the field at fault: the models
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

/** The field that holds what is to be made. */
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
      ? notOnSharedCapacity('voice.id', 'it names a voice in the vendor account')
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

import type { AccountBoundParam, CanonicalRequest } from './canonical-request.js';
import type { RoutingPreferences } from './routing-preferences.js';
import type { Usage } from './usage.js';
import type { JsonBody } from '../platform/http/json-body.js';

/**
 * The longest video, in seconds, that a vendor makes where `seconds` is undefined; what a ceiling has
 * to reckon with.
 */
export const MAX_DEFAULT_VIDEO_SECONDS = 8;

/** What is asked for, besides text; also the kind of model that can do it. */
export type WorkKind = 'embedding' | 'speech' | 'transcription' | 'image' | 'video';

/** Work other than text generation, as routing and the ledger see it; each kind adds its own fields. */
export interface WorkRequest {
  readonly kind: WorkKind;
  /** The fields as received, of a JSON body or of a form. */
  readonly body: { readonly value: Readonly<Record<string, unknown>> };
  /** Aliases to try in order, without repeats; at least one. */
  readonly models: readonly [string, ...string[]];
  readonly routing: RoutingPreferences;
  /** Whether the answer goes to the caller in pieces, as it comes. */
  readonly stream: boolean;
  /** The caller's name for its own end user, as limits and the log know it; see `readEndUser`. */
  readonly endUser?: string | undefined;
  /** A field that shared capacity refuses, if there is one. */
  readonly accountBoundParam: AccountBoundParam | undefined;
  /** The most that it can use on any route; a route's prices pick the units that it bills. */
  readonly ceiling: Usage;
  /** What it is taken to use where the vendor does not say. */
  readonly estimate: Usage;
  /** How many prompts it is; 1 unless told. */
  readonly items?: number;
  /** The length of the audio that is sent, in milliseconds, where it was measured here. */
  readonly measuredAudioMs?: number | undefined;
  /** The most that it can be, where that is not told by what was measured. */
  readonly longestAudioMs?: number | undefined;
}

/** Whatever routing can plan. */
export type RoutableRequest = CanonicalRequest | WorkRequest;

/** Text generation has dialects, all other work has kinds. */
export function isTextRequest(request: RoutableRequest): request is CanonicalRequest {
  return 'dialect' in request;
}

/** A picture, or several of the same prompt. Further fields are in `body`, in the caller's words. */
export interface ImageRequest extends WorkRequest {
  readonly kind: 'image';
  readonly prompt: string;
  /** Pictures asked for, at least one. */
  readonly count: number;
}

/** Pictures to be made of pictures. */
export interface ImageEditRequest extends ImageRequest {
  /** `edit`: by the prompt; `variation`: without one. */
  readonly task: 'edit' | 'variation';
  /** At least one; a variation has one. */
  readonly images: readonly UploadedFile[];
  /** Where the first is to be changed. */
  readonly mask: UploadedFile | undefined;
}

/** Pictures that were made of pictures. */
export interface EditedImages {
  /** Base64. */
  readonly images: readonly string[];
  /** In the vendor's own words, as far as it counts tokens. */
  readonly usage: Readonly<Record<string, unknown>> | undefined;
}

export interface VideoRequest extends WorkRequest {
  readonly kind: 'video';
  readonly prompt: string;
  /** Length asked for; undefined: the vendor's own. */
  readonly seconds: number | undefined;
}

/** What a job makes. */
export type MediaRequest = ImageRequest | VideoRequest | SpeechRequest;

/** Recorded speech to be written down. */
export interface TranscriptionRequest extends WorkRequest {
  readonly kind: 'transcription';
  /** `translate`: what is said comes out in English. */
  readonly task: 'transcribe' | 'translate';
  readonly audio: UploadedAudio;
  /** ISO 639-1 code, where the caller says it. */
  readonly language: string | undefined;
  readonly prompt: string | undefined;
  /** `json`, `text`, `srt`, `verbose_json`, `vtt` or `diarized_json`. */
  readonly format: string;
  readonly temperature: number | undefined;
  /** `word` and `segment`; empty where the caller names none. */
  readonly timestampGranularities: readonly string[];
}

/** An upload that lies in a file until its request is over, so that it can be sent more than once. */
export interface UploadedFile {
  readonly path: string;
  readonly sizeBytes: number;
  /** As the caller calls the file; vendors tell the format by its extension. */
  readonly fileName: string;
  readonly contentType: string;
}

export interface UploadedAudio extends UploadedFile {
  /** Measured length; undefined where it cannot be told. */
  readonly durationMs: number | undefined;
  /** Whether that is little more than what the file says of itself, and no count of its sound. */
  readonly isLengthClaimed?: boolean;
}

/**
 * A transcript in the format that was asked for, as it is sent to the caller; of one that is streamed a
 * server-sent event, if the vendor streams.
 */
export interface Transcript {
  readonly contentType: string;
  readonly bytes: Buffer;
  /** The event after which nothing follows, which has the whole text. */
  readonly isLast?: boolean;
}

/** Text to be spoken. */
export interface SpeechRequest extends WorkRequest {
  readonly kind: 'speech';
  readonly text: string;
  /** As the caller names it; an adapter maps it to the vendor's own voices. */
  readonly voice: string | undefined;
  /** How to speak, for models that take instructions. */
  readonly instructions: string | undefined;
  /** `mp3`, `opus`, `aac`, `flac`, `wav` or `pcm`. */
  readonly format: string;
  /** 1 is the ordinary pace. */
  readonly speed: number | undefined;
}

/** A piece of produced audio; the pieces of an answer joined are one file. */
export interface AudioPiece {
  readonly contentType: string;
  readonly bytes: Buffer;
}

/** Texts, or tokens of a vendor's own vocabulary, to be turned into vectors. */
export interface EmbeddingRequest extends WorkRequest {
  readonly kind: 'embedding';
  /** The body as received, for upstreams that speak the caller's dialect. */
  readonly body: JsonBody;
  readonly input: EmbeddingInput;
  readonly encoding: 'float' | 'base64';
  readonly dimensions: number | undefined;
}

/** The items in order; from 1 to 2,048 of them. */
export type EmbeddingInput =
  | { readonly type: 'texts'; readonly texts: readonly string[] }
  | { readonly type: 'tokens'; readonly tokens: readonly (readonly number[])[] };

/** The vectors in the order of the items: numbers, or base64 of little-endian 32-bit floats. */
export type EmbeddingVectors = readonly (readonly number[] | string)[];

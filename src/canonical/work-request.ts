import type { AccountBoundParam, CanonicalRequest } from './canonical-request.js';
import type { RoutingPreferences } from './routing-preferences.js';
import type { Usage } from './usage.js';
import type { JsonBody } from '../platform/http/json-body.js';

/**
 * Longest video, in seconds, that a vendor generates when `seconds` is undefined; used for ceilings.
 */
export const MAX_DEFAULT_VIDEO_SECONDS = 8;

/** The kind of work besides text generation; also the kind of model that does it. */
export type WorkKind = 'embedding' | 'speech' | 'transcription' | 'image' | 'video';

/** Work other than text generation, as routing and the ledger see it; each kind adds its own fields. */
export interface WorkRequest {
  readonly kind: WorkKind;
  /** The fields as received, from a JSON body or a form. */
  readonly body: { readonly value: Readonly<Record<string, unknown>> };
  /** Aliases to try in order, without duplicates; at least one. */
  readonly models: readonly [string, ...string[]];
  readonly routing: RoutingPreferences;
  /** True when the answer is streamed to the caller. */
  readonly stream: boolean;
  /** The caller's identifier for its own end user, as limits and the log know it; see `readEndUser`. */
  readonly endUser?: string | undefined;
  /** A field that shared capacity refuses; undefined when there is none. */
  readonly accountBoundParam: AccountBoundParam | undefined;
  /** Upper bound of its usage on any route; a route's prices pick the billed units. */
  readonly ceiling: Usage;
  /** Assumed usage when the vendor reports none. */
  readonly estimate: Usage;
  /** Number of prompts; 1 by default. */
  readonly items?: number;
  /** Milliseconds of uploaded audio, as the gateway measured it; undefined when it did not. */
  readonly measuredAudioMs?: number | undefined;
  /** Longest possible duration, when the measurement does not bound it. */
  readonly longestAudioMs?: number | undefined;
}

/** Any request that routing can plan. */
export type RoutableRequest = CanonicalRequest | WorkRequest;

/** Returns whether it is text generation, which has a dialect instead of a kind. */
export function isTextRequest(request: RoutableRequest): request is CanonicalRequest {
  return 'dialect' in request;
}

/** One or more images from a prompt. Further fields are in `body`, in the caller's words. */
export interface ImageRequest extends WorkRequest {
  readonly kind: 'image';
  readonly prompt: string;
  /** Number of images requested, at least one. */
  readonly count: number;
}

/** Images to be generated from images. */
export interface ImageEditRequest extends ImageRequest {
  /** `edit`: follow the prompt; `variation`: no prompt. */
  readonly task: 'edit' | 'variation';
  /** At least one; exactly one for a variation. */
  readonly images: readonly UploadedFile[];
  /** Area of the first image to change. */
  readonly mask: UploadedFile | undefined;
}

/** Images generated from images. */
export interface EditedImages {
  /** Base64. */
  readonly images: readonly string[];
  /** Usage as the vendor reports it, when it counts tokens. */
  readonly usage: Readonly<Record<string, unknown>> | undefined;
}

export interface VideoRequest extends WorkRequest {
  readonly kind: 'video';
  readonly prompt: string;
  /** Requested length; undefined: the vendor's default. */
  readonly seconds: number | undefined;
}

/** Requests that run as jobs. */
export type MediaRequest = ImageRequest | VideoRequest | SpeechRequest;

/** Recorded speech to transcribe. */
export interface TranscriptionRequest extends WorkRequest {
  readonly kind: 'transcription';
  /** `translate` transcribes into English. */
  readonly task: 'transcribe' | 'translate';
  readonly audio: UploadedAudio;
  /** ISO 639-1 code; undefined when the caller gives none. */
  readonly language: string | undefined;
  readonly prompt: string | undefined;
  /** `json`, `text`, `srt`, `verbose_json`, `vtt` or `diarized_json`. */
  readonly format: string;
  readonly temperature: number | undefined;
  /** `word` and `segment`; empty when the caller gives none. */
  readonly timestampGranularities: readonly string[];
}

/** An upload stored in a file until its request is over, so that it can be sent more than once. */
export interface UploadedFile {
  readonly path: string;
  readonly sizeBytes: number;
  /** The caller's file name; vendors detect the format by its extension. */
  readonly fileName: string;
  readonly contentType: string;
}

export interface UploadedAudio extends UploadedFile {
  /** Measured length in milliseconds; undefined when it cannot be measured. */
  readonly durationMs: number | undefined;
  /** True when `durationMs` comes from the file's metadata rather than its audio. */
  readonly isLengthClaimed?: boolean;
}

/**
 * A transcript in the requested format, as sent to the caller; a server-sent event when the vendor
 * streams.
 */
export interface Transcript {
  readonly contentType: string;
  readonly bytes: Buffer;
  /** True for the final event, which has the whole text. */
  readonly isLast?: boolean;
}

/** Text to be spoken. */
export interface SpeechRequest extends WorkRequest {
  readonly kind: 'speech';
  readonly text: string;
  /** The caller's voice name; adapters map it to the vendor's voices. */
  readonly voice: string | undefined;
  /** How to speak, for models that take instructions. */
  readonly instructions: string | undefined;
  /** `mp3`, `opus`, `aac`, `flac`, `wav` or `pcm`. */
  readonly format: string;
  /** 1 is normal pace. */
  readonly speed: number | undefined;
}

/** A piece of generated audio; the pieces of an answer concatenate to one file. */
export interface AudioPiece {
  readonly contentType: string;
  readonly bytes: Buffer;
}

/** Texts, or tokens of a vendor's vocabulary, to embed. */
export interface EmbeddingRequest extends WorkRequest {
  readonly kind: 'embedding';
  /** The body as received, for upstreams that speak the caller's dialect. */
  readonly body: JsonBody;
  readonly input: EmbeddingInput;
  readonly encoding: 'float' | 'base64';
  readonly dimensions: number | undefined;
}

/** The items in order; from 1 to 2,048. */
export type EmbeddingInput =
  | { readonly type: 'texts'; readonly texts: readonly string[] }
  | { readonly type: 'tokens'; readonly tokens: readonly (readonly number[])[] };

/** The vectors in item order: numbers, or base64 of little-endian 32-bit floats. */
export type EmbeddingVectors = readonly (readonly number[] | string)[];

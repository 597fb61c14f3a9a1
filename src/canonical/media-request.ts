import type { SpeechRequest } from './speech-request.js';
import type { WorkRequest } from './work-request.js';

/**
 * The longest video, in seconds, that a vendor makes where `seconds` is undefined; what a ceiling has
 * to reckon with.
 */
export const MAX_DEFAULT_VIDEO_SECONDS = 8;

/** A picture, or several of the same prompt. Further fields are in `body`, in the caller's words. */
export interface ImageRequest extends WorkRequest {
  readonly kind: 'image';
  readonly prompt: string;
  /** Pictures asked for, at least one. */
  readonly count: number;
}

export interface VideoRequest extends WorkRequest {
  readonly kind: 'video';
  readonly prompt: string;
  /** Length asked for; undefined: the vendor's own. */
  readonly seconds: number | undefined;
}

/** What a job makes. */
export type MediaRequest = ImageRequest | VideoRequest | SpeechRequest;

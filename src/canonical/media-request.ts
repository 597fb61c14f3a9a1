import type { SpeechRequest } from './speech-request.js';
import type { WorkRequest } from './work-request.js';

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

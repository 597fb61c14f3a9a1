import type { WorkRequest } from './work-request.js';

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

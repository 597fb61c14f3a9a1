import type { WorkRequest } from './work-request.js';

/** Recorded speech to be written down. */
export interface TranscriptionRequest extends WorkRequest {
  readonly kind: 'transcription';
  readonly audio: UploadedAudio;
  /** ISO 639-1 code, where the caller says it. */
  readonly language: string | undefined;
  readonly prompt: string | undefined;
  /** `json`, `text`, `srt`, `verbose_json` or `vtt`. */
  readonly format: string;
  readonly temperature: number | undefined;
  /** `word` and `segment`; empty where the caller names none. */
  readonly timestampGranularities: readonly string[];
}

/** An upload that lies in a file until its request is over, so that it can be sent more than once. */
export interface UploadedAudio {
  readonly path: string;
  readonly sizeBytes: number;
  /** As the caller calls the file; vendors tell the format by its extension. */
  readonly fileName: string;
  readonly contentType: string;
  /** Measured length; undefined where it cannot be told. */
  readonly durationMs: number | undefined;
}

/** A transcript in the format that was asked for, as it is sent to the caller. */
export interface Transcript {
  readonly contentType: string;
  readonly bytes: Buffer;
}

import { randomBytes } from 'node:crypto';
import type { JobModality } from './job.js';

const PREFIXES: Readonly<Record<JobModality, string>> = {
  image: 'img_',
  video: 'vid_',
  audio: 'aud_',
};
const RANDOM_BYTES = 18;

/** An id that nobody can guess; its prefix tells the modality. */
export function newJobId(modality: JobModality): string {
  return PREFIXES[modality] + randomBytes(RANDOM_BYTES).toString('hex');
}

/** The modality of what can be one of our ids; anything else need not be looked up. */
export function modalityOfJobId(text: string): JobModality | undefined {
  const prefix = /^([a-z]+_)[0-9a-f]{36}$/.exec(text)?.[1];
  const modalities: readonly JobModality[] = ['image', 'video', 'audio'];
  return modalities.find((modality) => PREFIXES[modality] === prefix);
}

/** The id of a file that one attempt at a job makes; no other attempt makes the same. */
export function newArtifactId(jobId: string, position: number): string {
  return `${jobId}-${randomBytes(6).toString('hex')}-${position}`;
}

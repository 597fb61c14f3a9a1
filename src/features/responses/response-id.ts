import { randomBytes } from 'node:crypto';

const PREFIX = 'resp_';
const RANDOM_BYTES = 24;

/** An id that nobody can guess, known before the answer begins. */
export function newResponseId(): string {
  return PREFIX + randomBytes(RANDOM_BYTES).toString('hex');
}

/** Whether text can be one of our ids; anything else need not be looked up. */
export function isResponseId(text: string): boolean {
  return /^resp_[0-9a-f]{48}$/.test(text);
}

/** What makes the id unique, for the ids of the response's items. */
export function randomPartOf(responseId: string): string {
  return responseId.slice(PREFIX.length);
}

/** The id that this random part makes unique. */
export function responseIdOf(randomPart: string): string {
  return PREFIX + randomPart;
}

import type {
  CanonicalMessage,
  CanonicalPrompt,
  CanonicalRequest,
} from '../../src/canonical/canonical-request.js';
import { promptRequest, says } from './prompt-requests.js';

export type PromptOverrides = Partial<CanonicalPrompt>;

/** A request described by its canonical prompt alone, as if it came in the `messages` dialect. */
export function canonicalRequest(
  prompt: PromptOverrides = {},
  overrides: Partial<CanonicalRequest> = {},
): CanonicalRequest {
  return promptRequest(prompt, {
    dialect: 'messages',
    promptSize: { tokens: 10, characters: 10, images: 0, pages: 0, audioSeconds: 0 },
    ...overrides,
  });
}

export function userMessage(text: string): CanonicalMessage {
  return says('user', text);
}

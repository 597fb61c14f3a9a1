import type {
  CanonicalMessage,
  CanonicalPrompt,
  CanonicalRequest,
} from '../../src/canonical/canonical-request.js';
import { jsonBody } from './chat-requests.js';

export type PromptOverrides = Partial<CanonicalPrompt>;

/** A conversation; what is not given is not set. */
export function canonicalPrompt(overrides: PromptOverrides = {}): CanonicalPrompt {
  return {
    messages: [userMessage('Hi')],
    tools: [],
    toolChoice: undefined,
    parallelToolCalls: undefined,
    responseFormat: undefined,
    reasoning: undefined,
    sampling: {},
    endUser: undefined,
    leftOver: [],
    ...overrides,
  };
}

/** A request that only its canonical prompt describes, as if it came in the dialect `messages`. */
export function canonicalRequest(
  prompt: PromptOverrides = {},
  overrides: Partial<CanonicalRequest> = {},
): CanonicalRequest {
  const whole = canonicalPrompt(prompt);
  return {
    dialect: 'messages',
    body: jsonBody({}),
    models: ['some/model'],
    routing: {
      order: [],
      only: undefined,
      ignore: [],
      allowFallbacks: true,
      strategy: 'fallback',
    },
    stream: false,
    choices: 1,
    maxOutputTokens: undefined,
    promptSize: { tokens: 10, characters: 10, images: 0 },
    accountBoundParam: undefined,
    prompt: () => whole,
    ...overrides,
  };
}

export function userMessage(text: string): CanonicalMessage {
  return { role: 'user', parts: [{ type: 'text', text }] };
}

import type {
  CanonicalMessage,
  CanonicalPrompt,
  CanonicalRequest,
  MessagePart,
} from '../../src/canonical/canonical-request.js';
import { jsonBody } from './chat-requests.js';

/** A conversation in canonical form; omitted fields do not matter to the test. */
export function promptOf(overrides: Partial<CanonicalPrompt> = {}): CanonicalPrompt {
  return {
    messages: [says('user', 'Hi')],
    tools: [],
    toolChoice: undefined,
    parallelToolCalls: undefined,
    responseFormat: undefined,
    reasoning: undefined,
    sampling: {},
    endUser: undefined,
    droppedFields: [],
    ...overrides,
  };
}

/** A message with one text or the given parts. */
export function says(
  role: CanonicalMessage['role'],
  ...parts: (string | MessagePart)[]
): CanonicalMessage {
  return {
    role,
    parts: parts.map((part) => (typeof part === 'string' ? { type: 'text', text: part } : part)),
  };
}

/** A request with this conversation, as if sent in the chat dialect. */
export function promptRequest(
  prompt: Partial<CanonicalPrompt> = {},
  overrides: Partial<CanonicalRequest> = {},
): CanonicalRequest {
  const whole = promptOf(prompt);
  return {
    dialect: 'chat',
    body: jsonBody({}),
    models: ['vendor/model'],
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
    promptSize: { tokens: 1, characters: 2, images: 0, pages: 0, audioSeconds: 0 },
    accountBoundParam: undefined,
    prompt: () => whole,
    ...overrides,
  };
}

/** A request in the messages dialect with this body. */
export function messagesRequest(
  body: unknown,
  overrides: Partial<CanonicalRequest> = {},
): CanonicalRequest {
  const json = jsonBody(body);
  return promptRequest(
    {},
    { dialect: 'messages', body: json, stream: json.value.stream === true, ...overrides },
  );
}

interface CurlRequest {
  endpoint: string;
  model: string;
  streamed?: boolean | undefined;
  tags: Record<string, string>;
}

interface CurlMessage {
  role: string;
  parts: readonly object[];
}

/** The stored prompt, if the viewer may read it. */
export interface CurlPrompt {
  instructions: readonly object[];
  messages: readonly CurlMessage[];
}

const PATHS: Record<string, string> = {
  chat: '/v1/chat/completions',
  completions: '/v1/completions',
  messages: '/v1/messages',
  responses: '/v1/responses',
  embeddings: '/v1/embeddings',
  'audio.speech': '/v1/audio/speech',
  'audio.transcriptions': '/v1/audio/transcriptions',
  images: '/v1/images/generations',
  videos: '/v1/videos',
  jobs: '/v1/jobs',
};
const PLACEHOLDER = '…';

/**
 * Generates a curl command that repeats a request. Contains text only: the log stores no files or tools.
 *
 * @param origin URL of the gateway
 */
export function toCurl(origin: string, request: CurlRequest, prompt?: CurlPrompt): string {
  const path = PATHS[request.endpoint] ?? `/v1/${request.endpoint}`;
  const tags = Object.entries(request.tags).map(([key, value]) => `${key}=${value}`);
  const lines = [
    `curl ${quote(origin + path)}`,
    `-H "Authorization: Bearer $GATEWAY_API_KEY"`,
    ...(request.endpoint === 'messages' ? [`-H 'anthropic-version: 2023-06-01'`] : []),
    ...(tags.length > 0 ? [`-H ${quote(`X-Gateway-Tags: ${tags.join(',')}`)}`] : []),
  ];
  if (request.endpoint === 'audio.transcriptions') {
    return [...lines, `-F ${quote(`model=${request.model}`)}`, `-F 'file=@audio.mp3'`].join(JOIN);
  }
  const body = JSON.stringify(bodyOf(request, prompt), null, 2);
  return [...lines, `-H 'Content-Type: application/json'`, `-d ${quote(body)}`].join(JOIN);
}

const JOIN = ' \\\n  ';

function bodyOf({ endpoint, model, streamed }: CurlRequest, prompt: CurlPrompt | undefined) {
  const system = prompt ? textOf(prompt.instructions) : '';
  const messages = prompt?.messages.map(({ role, parts }) => ({
    role,
    content: textOf(parts),
  })) ?? [{ role: 'user', content: PLACEHOLDER }];
  const stream = streamed ? { stream: true } : {};
  const text = messages.map(({ content }) => content).join('\n');
  switch (endpoint) {
    case 'messages':
      return { model, max_tokens: 1_024, ...(system && { system }), messages, ...stream };
    case 'responses':
      return { model, ...(system && { instructions: system }), input: messages, ...stream };
    case 'chat':
      return {
        model,
        messages: [...(system ? [{ role: 'system', content: system }] : []), ...messages],
        ...stream,
      };
    case 'embeddings':
      return { model, input: text };
    case 'audio.speech':
      return { model, input: text, voice: 'alloy' };
    default:
      return { model, prompt: text, ...stream };
  }
}

function textOf(parts: readonly object[]): string {
  return parts
    .flatMap((part) => ('content' in part && typeof part.content === 'string' ? part.content : []))
    .join('\n');
}

/** Quotes text for a POSIX shell. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

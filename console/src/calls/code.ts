import { quote } from '../requests/curl';
import type { ModelRequest } from './build-request';
import type { Surface } from './conversation';
import { isObject } from './json';

export const LANGUAGES = ['curl', 'Python', 'JavaScript'] as const;
export type Language = (typeof LANGUAGES)[number];

/** Longer strings without whitespace are base64 files, shortened in code. */
const LONGEST_FILE = 400;
const KEY = 'GATEWAY_API_KEY';

/**
 * Generates code for a request that reads the key from the environment. Files are replaced by a placeholder.
 *
 * @param origin URL of the gateway
 */
export function codeFor(language: Language, origin: string, request: ModelRequest): string {
  const short = { ...request, body: withoutFiles(request.body) };
  switch (language) {
    case 'curl':
      return curl(origin, short);
    case 'Python':
      return python(origin, short);
    case 'JavaScript':
      return javaScript(origin, short);
  }
}

function curl(origin: string, { path, surface, body }: ModelRequest): string {
  const version = surface === 'messages' ? `  -H 'anthropic-version: 2023-06-01' \\\n` : '';
  return (
    `curl ${body['stream'] ? '-N ' : ''}${quote(origin + path)} \\\n` +
    `  -H "Authorization: Bearer $${KEY}" \\\n${version}` +
    `  -H 'Content-Type: application/json' \\\n` +
    `  -d ${quote(JSON.stringify(body, null, 2))}`
  );
}

const PYTHON: Record<Surface, { client: string; call: string; read: string; stream: string }> = {
  chat: {
    client: 'OpenAI',
    call: 'client.chat.completions.create',
    read: 'print(answer.choices[0].message)',
    stream: 'if chunk.choices:\n        print(chunk.choices[0].delta.content or "", end="")',
  },
  messages: {
    client: 'Anthropic',
    call: 'client.messages.create',
    read: 'print(answer.content)',
    stream:
      'if chunk.type == "content_block_delta":\n        print(getattr(chunk.delta, "text", ""), end="")',
  },
  responses: {
    client: 'OpenAI',
    call: 'client.responses.create',
    read: 'print(answer.output_text)',
    stream: 'if chunk.type == "response.output_text.delta":\n        print(chunk.delta, end="")',
  },
};

function python(origin: string, { surface, body }: ModelRequest): string {
  const { client, call, read, stream } = PYTHON[surface];
  const fields = Object.entries(body).map(
    ([name, value]) => `    ${name}=${toPython(value, '    ')},\n`,
  );
  const end = body['stream'] ? `for chunk in answer:\n    ${stream}` : read;
  return (
    `import os\n\nfrom ${client.toLowerCase()} import ${client}\n\n` +
    `client = ${client}(base_url="${baseUrl(origin, surface)}", api_key=os.environ["${KEY}"])\n\n` +
    `answer = ${call}(\n${fields.join('')})\n${end}\n`
  );
}

function javaScript(origin: string, { surface, body }: ModelRequest): string {
  const { client, call } = PYTHON[surface];
  const from = client === 'Anthropic' ? '@anthropic-ai/sdk' : 'openai';
  const read = {
    chat: 'answer.choices[0].message',
    messages: 'answer.content',
    responses: 'answer.output_text',
  };
  const stream = {
    chat: `chunk.choices[0]?.delta.content ?? ''`,
    messages: `chunk.delta?.text ?? ''`,
    responses: `chunk.type === 'response.output_text.delta' ? chunk.delta : ''`,
  };
  const end = body['stream']
    ? `for await (const chunk of answer) process.stdout.write(${stream[surface]});`
    : `console.log(${read[surface]});`;
  return (
    `import ${client} from '${from}';\n\n` +
    `const client = new ${client}({ baseURL: '${baseUrl(origin, surface)}', apiKey: process.env.${KEY} });\n\n` +
    `const answer = await ${call}(${JSON.stringify(body, null, 2)});\n${end}\n`
  );
}

/** The Anthropic client adds the version to the path itself. */
function baseUrl(origin: string, surface: Surface): string {
  return surface === 'messages' ? origin : `${origin}/v1`;
}

/** Converts a JSON value to a Python literal. */
function toPython(value: unknown, indent: string): string {
  const inner = `${indent}    `;
  if (Array.isArray(value)) {
    if (value.length === 0) return '[]';
    const items = value.map((item) => `${inner}${toPython(item, inner)},\n`);
    return `[\n${items.join('')}${indent}]`;
  }
  if (isObject(value)) {
    const members = Object.entries(value);
    if (members.length === 0) return '{}';
    const lines = members.map(
      ([name, member]) => `${inner}${JSON.stringify(name)}: ${toPython(member, inner)},\n`,
    );
    return `{\n${lines.join('')}${indent}}`;
  }
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  return value === null ? 'None' : JSON.stringify(value);
}

function withoutFiles(value: Record<string, unknown>): Record<string, unknown>;
function withoutFiles(value: unknown): unknown;
function withoutFiles(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => withoutFiles(item));
  if (isObject(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [name, withoutFiles(member)]),
    );
  }
  if (typeof value !== 'string' || value.length <= LONGEST_FILE || /\s/.test(value)) return value;
  const [head = ''] = /^data:[^,]*,/.exec(value) ?? [];
  return `${head}… ${value.length - head.length} characters of base64 …`;
}

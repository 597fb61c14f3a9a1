import type { CallSettings, SentFile, Surface, Turn } from './conversation';
import { isObject, parseJson, type JsonObject } from './json';
import { toolsFor, type Tool } from './tools';

/** A model request, ready to send. */
export interface ModelRequest {
  surface: Surface;
  path: string;
  body: JsonObject;
}

export interface CallInput {
  model: string;
  system: string;
  turns: readonly Turn[];
  tools: readonly Tool[];
  settings: CallSettings;
}

const PATHS: Record<Surface, string> = {
  chat: '/v1/chat/completions',
  messages: '/v1/messages',
  responses: '/v1/responses',
};
/** The Messages API requires `max_tokens`. */
const MESSAGES_MAX_TOKENS = 1_024;

/** Builds the request for a conversation in the format of one of the three APIs. */
export function buildRequest(surface: Surface, input: CallInput): ModelRequest {
  return { surface, path: PATHS[surface], body: BUILD[surface](input) };
}

const BUILD: Record<Surface, (input: CallInput) => JsonObject> = {
  chat: ({ model, system, turns, tools, settings }) => ({
    model,
    messages: [
      ...(system ? [{ role: 'system', content: system }] : []),
      ...turns.flatMap(chatTurn),
    ],
    ...number('temperature', settings.temperature),
    ...number('top_p', settings.top_p),
    ...number('max_tokens', settings.max_tokens),
    ...number('seed', settings.seed),
    ...(settings.stop && { stop: stopSequences(settings) }),
    ...(settings.effort && { reasoning_effort: settings.effort }),
    ...(tools.length > 0 && { tools: toolsFor('chat', tools) }),
    ...(tools.length > 0 && settings.tool_choice && { tool_choice: settings.tool_choice }),
    ...(settings.stream && { stream: true, stream_options: { include_usage: true } }),
  }),
  messages: ({ model, system, turns, tools, settings }) => ({
    model,
    max_tokens: MESSAGES_MAX_TOKENS,
    ...number('max_tokens', settings.max_tokens),
    ...(system && { system }),
    messages: turns.map(messagesTurn),
    ...number('temperature', settings.temperature),
    ...number('top_p', settings.top_p),
    ...(settings.stop && { stop_sequences: stopSequences(settings) }),
    ...(settings.effort && { output_config: { effort: settings.effort } }),
    ...(tools.length > 0 && { tools: toolsFor('messages', tools) }),
    ...(tools.length > 0 &&
      settings.tool_choice && {
        tool_choice: { type: settings.tool_choice === 'required' ? 'any' : settings.tool_choice },
      }),
    ...(settings.stream && { stream: true }),
  }),
  responses: ({ model, system, turns, tools, settings }) => ({
    model,
    ...(system && { instructions: system }),
    input: turns.flatMap(responsesTurn),
    ...number('temperature', settings.temperature),
    ...number('top_p', settings.top_p),
    ...number('max_output_tokens', settings.max_tokens),
    ...(settings.effort && { reasoning: { effort: settings.effort } }),
    ...(tools.length > 0 && { tools: toolsFor('responses', tools) }),
    ...(tools.length > 0 && settings.tool_choice && { tool_choice: settings.tool_choice }),
    store: false,
    ...(settings.stream && { stream: true }),
  }),
};

/** Parses a typed number. Invalid input is sent unchanged, so that the API reports what is wrong. */
function number(name: string, typed: string): JsonObject {
  if (typed.trim() === '') return {};
  return { [name]: Number.isNaN(Number(typed)) ? typed : Number(typed) };
}

function stopSequences({ stop }: CallSettings): string[] {
  return stop.split('\n').filter((line) => line !== '');
}

function chatTurn(turn: Turn): JsonObject[] {
  switch (turn.role) {
    case 'user':
      return [
        {
          role: 'user',
          content:
            turn.files.length === 0
              ? turn.text
              : [...textPart('text', turn.text), ...turn.files.map(chatFile)],
        },
      ];
    case 'assistant':
      return [
        {
          role: 'assistant',
          content: turn.text || null,
          ...(turn.toolCalls.length > 0 && {
            tool_calls: turn.toolCalls.map(({ id, name, arguments: text }) => ({
              id,
              type: 'function',
              function: { name, arguments: text },
            })),
          }),
        },
      ];
    case 'tool':
      return turn.results.map(({ id, text }) => ({
        role: 'tool',
        tool_call_id: id,
        content: text,
      }));
  }
}

function chatFile(file: SentFile): JsonObject {
  if (isImage(file)) return { type: 'image_url', image_url: { url: dataUrl(file) } };
  const format = audioFormat(file);
  if (format) return { type: 'input_audio', input_audio: { data: file.data, format } };
  return { type: 'file', file: { filename: file.name, file_data: dataUrl(file) } };
}

function messagesTurn(turn: Turn): JsonObject {
  switch (turn.role) {
    case 'user':
      return {
        role: 'user',
        content:
          turn.files.length === 0
            ? turn.text
            : [...turn.files.map(messagesFile), ...textPart('text', turn.text)],
      };
    case 'assistant':
      return {
        role: 'assistant',
        content: [
          ...textPart('text', turn.text),
          ...turn.toolCalls.map(({ id, name, arguments: text }) => {
            const input = parseJson(text);
            return { type: 'tool_use', id, name, input: isObject(input) ? input : {} };
          }),
        ],
      };
    case 'tool':
      return {
        role: 'user',
        content: turn.results.map(({ id, text }) => ({
          type: 'tool_result',
          tool_use_id: id,
          content: text,
        })),
      };
  }
}

function messagesFile(file: SentFile): JsonObject {
  const source = { type: 'base64', media_type: file.type, data: file.data };
  return isImage(file) ? { type: 'image', source } : { type: 'document', source, title: file.name };
}

function responsesTurn(turn: Turn): JsonObject[] {
  switch (turn.role) {
    case 'user':
      return [
        {
          role: 'user',
          content:
            turn.files.length === 0
              ? turn.text
              : [...textPart('input_text', turn.text), ...turn.files.map(responsesFile)],
        },
      ];
    case 'assistant':
      return [
        ...(turn.text ? [{ role: 'assistant', content: turn.text }] : []),
        ...turn.toolCalls.map(({ id, name, arguments: text }) => ({
          type: 'function_call',
          call_id: id,
          name,
          arguments: text,
        })),
      ];
    case 'tool':
      return turn.results.map(({ id, text }) => ({
        type: 'function_call_output',
        call_id: id,
        output: text,
      }));
  }
}

function responsesFile(file: SentFile): JsonObject {
  if (isImage(file)) return { type: 'input_image', image_url: dataUrl(file) };
  const format = audioFormat(file);
  if (format) return { type: 'input_audio', input_audio: { data: file.data, format } };
  return { type: 'input_file', filename: file.name, file_data: dataUrl(file) };
}

function textPart(type: string, text: string): JsonObject[] {
  return text === '' ? [] : [{ type, text }];
}

export function isImage({ type }: Pick<SentFile, 'type'>): boolean {
  return type.startsWith('image/');
}

function audioFormat({ type }: SentFile): string | undefined {
  if (/^audio\/(x-)?wav$/.test(type)) return 'wav';
  return /^audio\/(mpeg|mp3)$/.test(type) ? 'mp3' : undefined;
}

export function dataUrl({ type, data }: Pick<SentFile, 'type' | 'data'>): string {
  return `data:${type};base64,${data}`;
}

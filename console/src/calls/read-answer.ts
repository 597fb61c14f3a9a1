import type { Surface, ToolCall } from './conversation';
import { at, isObject, listAt, textAt } from './json';

/** A model's answer so far. */
export interface Answer {
  text: string;
  reasoning: string;
  toolCalls: ToolCall[];
  finishReason: string | null;
}

/** An error in the middle of a stream. */
export interface StreamError {
  message: string;
  param: string | null;
}

/** Assembles an answer from stream events or from a whole body. */
export interface AnswerReader {
  readonly answer: Answer;
  /** Adds an event and returns its error, if it is one. */
  event(event: unknown): StreamError | undefined;
  whole(body: unknown): void;
}

export function answerReader(surface: Surface): AnswerReader {
  return READERS[surface]();
}

function empty(): Answer {
  return { text: '', reasoning: '', toolCalls: [], finishReason: null };
}

function chatReader(): AnswerReader {
  const answer = empty();
  return {
    answer,
    event(event) {
      const error = streamErrorOf(at(event, 'error'));
      if (error) return error;
      const delta = at(event, 'choices', 0, 'delta');
      answer.text += textAt(delta, 'content') + textAt(delta, 'refusal');
      answer.reasoning += textAt(delta, 'reasoning') || textAt(delta, 'reasoning_content');
      for (const piece of listAt(delta, 'tool_calls')) {
        const call = callAt(answer, Number(at(piece, 'index') ?? answer.toolCalls.length));
        call.id ||= textAt(piece, 'id');
        call.name ||= textAt(piece, 'function', 'name');
        call.arguments += textAt(piece, 'function', 'arguments');
      }
      answer.finishReason = textAt(event, 'choices', 0, 'finish_reason') || answer.finishReason;
      return undefined;
    },
    whole(body) {
      const message = at(body, 'choices', 0, 'message');
      answer.text = textAt(message, 'content') + textAt(message, 'refusal');
      answer.reasoning = textAt(message, 'reasoning') || textAt(message, 'reasoning_content');
      answer.toolCalls = listAt(message, 'tool_calls').map((call) => ({
        id: textAt(call, 'id'),
        name: textAt(call, 'function', 'name'),
        arguments: textAt(call, 'function', 'arguments'),
      }));
      answer.finishReason = textAt(body, 'choices', 0, 'finish_reason') || null;
    },
  };
}

function messagesReader(): AnswerReader {
  const answer = empty();
  /** Tool calls by the index of their content block. */
  const callOf = new Map<unknown, ToolCall>();
  return {
    answer,
    event(event) {
      const error = streamErrorOf(at(event, 'error'));
      if (error) return error;
      const block = at(event, 'content_block');
      if (textAt(block, 'type') === 'tool_use') {
        const call = { id: textAt(block, 'id'), name: textAt(block, 'name'), arguments: '' };
        callOf.set(at(event, 'index'), call);
        answer.toolCalls.push(call);
      }
      const delta = at(event, 'delta');
      answer.text += textAt(delta, 'text');
      answer.reasoning += textAt(delta, 'thinking');
      const call = callOf.get(at(event, 'index'));
      if (call) call.arguments += textAt(delta, 'partial_json');
      answer.finishReason = textAt(delta, 'stop_reason') || answer.finishReason;
      return undefined;
    },
    whole(body) {
      for (const block of listAt(body, 'content')) {
        answer.text += textAt(block, 'text');
        answer.reasoning += textAt(block, 'thinking');
        if (textAt(block, 'type') === 'tool_use') {
          const text = JSON.stringify(at(block, 'input') ?? {});
          answer.toolCalls.push({
            id: textAt(block, 'id'),
            name: textAt(block, 'name'),
            arguments: text,
          });
        }
      }
      answer.finishReason = textAt(body, 'stop_reason') || null;
    },
  };
}

function responsesReader(): AnswerReader {
  const answer = empty();
  const callOf = new Map<unknown, ToolCall>();
  const addCall = (item: unknown, index: unknown): void => {
    const call = {
      id: textAt(item, 'call_id'),
      name: textAt(item, 'name'),
      arguments: textAt(item, 'arguments'),
    };
    callOf.set(index, call);
    answer.toolCalls.push(call);
  };
  return {
    answer,
    event(event) {
      const index = at(event, 'output_index');
      const delta = textAt(event, 'delta');
      switch (textAt(event, 'type')) {
        case 'response.output_text.delta':
        case 'response.refusal.delta':
          answer.text += delta;
          break;
        case 'response.reasoning_summary_text.delta':
        case 'response.reasoning_text.delta':
          answer.reasoning += delta;
          break;
        case 'response.output_item.added':
          if (textAt(event, 'item', 'type') === 'function_call') addCall(at(event, 'item'), index);
          break;
        case 'response.function_call_arguments.delta': {
          const call = callOf.get(index);
          if (call) call.arguments += delta;
          break;
        }
        case 'response.completed':
        case 'response.incomplete':
          answer.finishReason = endOf(at(event, 'response'));
          break;
        case 'response.failed':
          return (
            streamErrorOf(at(event, 'response', 'error')) ?? {
              message: 'The request failed.',
              param: null,
            }
          );
        case 'error':
          return streamErrorOf(at(event, 'error')) ?? streamErrorOf(event);
      }
      return undefined;
    },
    whole(body) {
      for (const [index, item] of listAt(body, 'output').entries()) {
        const type = textAt(item, 'type');
        if (type === 'function_call') addCall(item, index);
        const parts = listAt(item, 'content').map(
          (part) => textAt(part, 'text') + textAt(part, 'refusal'),
        );
        if (type === 'message') answer.text += parts.join('');
        if (type === 'reasoning') {
          answer.reasoning += [
            ...listAt(item, 'summary').map((part) => textAt(part, 'text')),
            ...parts,
          ].join('');
        }
      }
      answer.finishReason = endOf(body);
    },
  };
}

const READERS: Record<Surface, () => AnswerReader> = {
  chat: chatReader,
  messages: messagesReader,
  responses: responsesReader,
};

function endOf(response: unknown): string {
  return textAt(response, 'incomplete_details', 'reason') || textAt(response, 'status');
}

function callAt(answer: Answer, index: number): ToolCall {
  return (answer.toolCalls[index] ??= { id: '', name: '', arguments: '' });
}

function streamErrorOf(error: unknown): StreamError | undefined {
  if (!isObject(error)) return undefined;
  return {
    message: textAt(error, 'message') || 'The request failed.',
    param: textAt(error, 'param') || null,
  };
}

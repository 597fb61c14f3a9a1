import { expect } from '@jest/globals';
import { promptRequest } from './prompt-requests.js';
import type {
  CanonicalPrompt,
  CanonicalRequest,
  MessagePart,
  ToolDefinition,
} from '../../src/canonical/canonical-request.js';
import {
  droppedFromMessages,
  encodeMessagesRequest,
} from '../../src/vendors/dialects/messages/encode-messages-request.js';
import type { MessagesModelTraits } from '../../src/vendors/dialects/messages/messages-vendor.js';

/** A model that supports everything in the dialect, with budgeted thinking. */
export const BUDGET: MessagesModelTraits = {
  sampling: true,
  temperatureWithTopP: false,
  thinking: 'budget',
  thinksByDefault: false,
  thinkingOff: 'disabled',
  efforts: [],
  forcedToolChoice: true,
  prefill: true,
  structuredOutput: true,
};
export const ADAPTIVE: MessagesModelTraits = {
  ...BUDGET,
  thinking: 'adaptive',
  efforts: ['low', 'medium', 'high', 'max'],
};
export const NEWEST: MessagesModelTraits = {
  ...ADAPTIVE,
  sampling: false,
  thinksByDefault: true,
  forcedToolChoice: false,
  prefill: false,
};

export interface Options {
  traits?: MessagesModelTraits;
  maxOutputTokens?: number;
  request?: Partial<CanonicalRequest>;
}

export function encode(
  prompt: Partial<CanonicalPrompt> = {},
  { traits = BUDGET, maxOutputTokens = 4_000, request = {} }: Options = {},
) {
  const call = { request: promptRequest(prompt, request), maxOutputTokens };
  const vendor = { signatureIssuer: 'maker', traits };
  const { body, jsonTool } = encodeMessagesRequest(call, vendor);
  return { body, jsonTool, dropped: droppedFromMessages(call, vendor) };
}

export const refusal = (param: string, failure = 'unsupported') =>
  expect.objectContaining({ failure, param });

export const tool = (fields: Partial<ToolDefinition> = {}): ToolDefinition => ({
  name: 'look',
  ...fields,
});
export const call: MessagePart = { type: 'tool_call', id: '1', name: 'look', arguments: '{}' };
export const result: MessagePart = { type: 'tool_result', toolCallId: '1', parts: [] };

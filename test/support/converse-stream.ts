import { eventMessage } from '../contract/vendors/bedrock.vendor.js';

export const start = eventMessage('messageStart', { role: 'assistant', p: 'abc' });
export const delta = (contentBlockIndex: number, value: object) =>
  eventMessage('contentBlockDelta', { contentBlockIndex, delta: value, p: 'abcdef' });
export const text = (value: string, block = 0) => delta(block, { text: value });
export const toolStart = (contentBlockIndex: number, toolUseId: string, name = 'look_up') =>
  eventMessage('contentBlockStart', { contentBlockIndex, start: { toolUse: { toolUseId, name } } });
export const toolInput = (block: number, input: string) => delta(block, { toolUse: { input } });
export const reasoning = (block: number, reasoningContent: object) =>
  delta(block, { reasoningContent });
export const blockStop = (contentBlockIndex: number) =>
  eventMessage('contentBlockStop', { contentBlockIndex });
export const stop = (stopReason = 'end_turn', rest: object = {}) =>
  eventMessage('messageStop', { stopReason, ...rest });
export const metadata = eventMessage('metadata', { usage: { inputTokens: 3, outputTokens: 4 } });

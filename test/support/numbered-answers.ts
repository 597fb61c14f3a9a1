import type { ContractVendor, ScriptedAnswer } from '../contract/contract-vendor.js';
import { reply, type ScriptedServer } from '../contract/scripted-server.js';
import { anthropicVendor } from '../contract/vendors/anthropic.vendor.js';
import { openAiResponsesVendor } from '../contract/vendors/openai-responses.vendor.js';
import { openAiVendor } from '../contract/vendors/openai.vendor.js';
import { answerEmbeddings } from './fake-embedders.js';

/** Vendors by the last segment of the path. */
const VENDORS: Record<string, ContractVendor> = {
  '/messages': anthropicVendor,
  '/responses': openAiResponsesVendor,
};

export const ANSWER: ScriptedAnswer = {
  text: 'Grüße, 日本 👋🏽 and "more" words. ',
  finish: 'stop',
  usage: { input: 1_000, output: 500 },
};
export const CALLS: ScriptedAnswer = {
  text: 'Let me see. ',
  toolCalls: [
    { id: 'call_1', name: 'look', arguments: '{"at":"Zürich","days":3}' },
    { id: 'call_2', name: 'look', arguments: '{"at":"東京"}' },
  ],
  finish: 'tool_calls',
  usage: { input: 1_000, output: 500 },
};

/** Makes OpenAI and Anthropic give this answer with a running number. */
export function answerNumbered(vendors: ScriptedServer, answer: ScriptedAnswer): void {
  vendors.script = (call, response) => {
    if (call.path.endsWith('/embeddings')) return answerEmbeddings(call, response);
    const ending = call.path.slice(call.path.lastIndexOf('/'));
    const vendor = VENDORS[ending] ?? openAiVendor;
    const numbered = { ...answer, text: `${answer.text ?? ''}Number ${vendors.calls.length}.` };
    const { stream } = vendor.readRequest(call);
    const { status, headers, body } = stream ? vendor.stream(numbered) : vendor.whole(numbered);
    return reply(status, headers, body)(call, response);
  };
}

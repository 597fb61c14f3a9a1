import type { JsonObject } from '../../../src/platform/http/json-body.js';
import { AzureAdapter } from '../../../src/vendors/azure/azure.adapter.js';
import type { ContractVendor, FailureKind, Reply, ScriptedAnswer } from '../contract-vendor.js';
import {
  chunk,
  errorOf,
  jsonReply,
  openAiVendor,
  spellChunks,
  spellWhole,
  streamReply,
} from './openai.vendor.js';

export const AZURE_API_VERSION = '2024-10-21';

const SAFE = { filtered: false, severity: 'safe' };
const VERDICT = { hate: SAFE, self_harm: SAFE, sexual: SAFE, violence: SAFE };
const PROMPT_VERDICT = [{ prompt_index: 0, content_filter_results: VERDICT }];

/** Azure OpenAI: OpenAI's answers with filter results, and its own errors. */
export const azureVendor: ContractVendor = {
  ...openAiVendor,
  name: 'azure',
  upstreamModel: 'gpt-4o-mini',
  provider: { adapter: 'azure', type: 'azure', settings: { apiVersion: AZURE_API_VERSION } },
  createAdapter: (origin, { transport }) =>
    new AzureAdapter(
      {
        id: 'azure',
        name: 'Azure OpenAI',
        adapter: 'azure',
        type: 'azure',
        baseUrl: origin,
        apiKey: 'key-of-the-contract-suite',
        settings: { apiVersion: AZURE_API_VERSION },
      },
      transport,
    ),
  whole: (answer) => jsonReply(200, spellJudged(answer)),
  stream: (answer) => streamReply([prelude(), ...spellChunks(answer)]),
  failure: spellFailure,
};

function spellJudged(answer: ScriptedAnswer): JsonObject {
  const whole = spellWhole(answer);
  const choices = (whole.choices as JsonObject[]).map((choice) => ({
    ...choice,
    content_filter_results: VERDICT,
  }));
  return { ...whole, choices, prompt_filter_results: PROMPT_VERDICT };
}

/** The filter result of the prompt, in a first chunk without content. */
function prelude(): string {
  const prelude = { choices: [], created: 0, id: '', model: '', object: '' };
  return chunk({ ...prelude, prompt_filter_results: PROMPT_VERDICT });
}

function spellFailure(kind: FailureKind): Reply {
  switch (kind) {
    case 'rate_limited':
      return jsonReply(
        429,
        { error: { code: '429', message: 'Requests have exceeded the call rate limit.' } },
        { 'retry-after': '7', 'retry-after-ms': '6500' },
      );
    case 'bad_key':
      return jsonReply(401, {
        error: { code: '401', message: 'Access denied due to invalid subscription key.' },
      });
    default: {
      const reply = openAiVendor.failure(kind);
      return jsonReply(reply.status, { error: { ...errorOf(reply), status: reply.status } });
    }
  }
}

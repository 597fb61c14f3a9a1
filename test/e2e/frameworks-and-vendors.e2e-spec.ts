import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { afterAll, describe, expect, it } from '@jest/globals';
import {
  AIMessageChunk,
  HumanMessage,
  SystemMessage,
  ToolMessage,
  type BaseMessage,
} from '@langchain/core/messages';
import { ChatOpenAI } from '@langchain/openai';
import { generateText, jsonSchema, stepCountIs, streamText, tool, type LanguageModel } from 'ai';
import {
  LAST_WORD,
  QUESTION,
  RESULTS,
  SYSTEM,
  TOOLS,
  TWO_CALLS,
} from '../contract/contract-conversation.js';
import { ContractReport } from '../contract/contract-report.js';
import type { ScriptedAnswer } from '../contract/contract-vendor.js';
import { startFleet } from '../contract/fleet-of-suite.js';
import { FLEET_NAMES, type VendorFleet } from '../contract/vendor-fleet.js';
import type { BootedGateway } from '../support/boot-gateway.js';

const SIGNATURE = 'YSBzZWFsIG9mIHRoZSBtb2RlbA==';

/** The vendor reasons and then calls two tools at once. */
const FIRST: ScriptedAnswer = {
  ...TWO_CALLS,
  reasoning: { text: 'I need both.', signature: SIGNATURE },
};

/** A framework's result of the whole conversation. */
interface Outcome {
  text: string;
  /** Names and arguments of the calls in the first answer. */
  calls: [name: string, input: unknown][];
  /** Usage of the last answer. */
  usage: { input: number | undefined; output: number | undefined };
}

type Framework = (model: string, stream: boolean) => Promise<Outcome>;

const FRAMEWORKS: Record<string, (gateway: BootedGateway) => Framework> = {
  'AI SDK, chat': (gateway) => {
    const provider = createOpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.apiKey });
    return (model, stream) => runAiSdk(provider.chat(model), stream);
  },
  'AI SDK, responses': (gateway) => {
    const provider = createOpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.apiKey });
    return (model, stream) => runAiSdk(provider.responses(model), stream);
  },
  'AI SDK, responses without a store': (gateway) => {
    const provider = createOpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.apiKey });
    const providerOptions = { openai: { store: false } };
    return (model, stream) => runAiSdk(provider.responses(model), stream, { providerOptions });
  },
  'AI SDK, messages': (gateway) => {
    const baseURL = `${gateway.url}/v1/anthropic`;
    const provider = createAnthropic({ baseURL, apiKey: gateway.apiKey });
    return (model, stream) => runAiSdk(provider(model), stream);
  },
  'LangChain, chat': (gateway) => (model, stream) => runLangChain(gateway, { model }, stream),
  'LangChain, responses': (gateway) => (model, stream) =>
    runLangChain(gateway, { model, useResponsesApi: true, zdrEnabled: true }, stream),
};

/** The frameworks that send reasoning back with its signature. */
const KEEP_SIGNATURES = [
  'AI SDK, messages',
  'AI SDK, responses',
  'AI SDK, responses without a store',
];

/** The vendors that sign their reasoning in the dialects used here. */
const SIGNING = ['anthropic', 'bedrock', 'vertex', 'vertex-claude'];

describe('frameworks with every vendor', () => {
  const report = new ContractReport();
  let fleet: VendorFleet;

  startFleet((started) => {
    // It warns about reasoning without a signature, which some vendors never send.
    Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });
    fleet = started;
  });
  afterAll(() => report.print());

  const combinations = Object.keys(FRAMEWORKS).flatMap((framework) =>
    FLEET_NAMES.flatMap((vendor) =>
      (['whole', 'streamed'] as const).map((kind) => ({ framework, vendor, kind })),
    ),
  );

  it.each(combinations)('$framework, $vendor, $kind', ({ framework, vendor, kind }) =>
    report.note(vendor, framework, kind, async () => {
      const member = fleet.member(vendor);
      member.respond((spelling, call) => {
        const { turns, stream } = spelling.readRequest(call);
        const answer = turns.some((turn) => turn.toolResults.length > 0) ? LAST_WORD : FIRST;
        return stream ? spelling.stream(answer) : spelling.whole(answer);
      });
      const run = FRAMEWORKS[framework]!(fleet.gateway);
      const outcome = await run(member.model, kind === 'streamed');
      expect(outcome).toEqual({
        text: LAST_WORD.text,
        calls: [
          ['get_weather', { city: 'Zürich', days: 2 }],
          ['get_time', {}],
        ],
        usage: { input: LAST_WORD.usage.input, output: LAST_WORD.usage.output },
      });
      expect(member.server.calls).toHaveLength(2);
      expect(member.lastRequest()).toMatchObject({
        system: SYSTEM,
        turns: [
          { role: 'user', text: QUESTION },
          { role: 'assistant', text: FIRST.text, toolCalls: [{}, {}] },
          { role: 'user', toolResults: RESULTS },
        ],
        stream: kind === 'streamed',
      });
      if (KEEP_SIGNATURES.includes(framework) && SIGNING.includes(vendor)) {
        expect(String(member.server.calls.at(-1)!.body)).toContain(SIGNATURE);
      }
    }),
  );
});

async function runAiSdk(
  model: LanguageModel,
  stream: boolean,
  more: Pick<Parameters<typeof generateText>[0], 'providerOptions'> = {},
): Promise<Outcome> {
  const tools = Object.fromEntries(
    TOOLS.map(({ name, description = '', parameters }, index) => [
      name,
      tool({
        description,
        inputSchema: jsonSchema<object>(parameters!),
        execute: () => RESULTS[index]!,
      }),
    ]),
  );
  const options = {
    model,
    system: SYSTEM,
    prompt: QUESTION,
    tools,
    maxRetries: 0,
    maxOutputTokens: 2_000,
    stopWhen: stepCountIs(3),
    ...more,
  };
  const result = stream ? streamText(options) : await generateText(options);
  const steps = await result.steps;
  const last = steps.at(-1)!;
  return {
    text: last.text,
    calls: steps[0]!.toolCalls.map(({ toolName, input }) => [toolName, input]),
    usage: { input: last.usage.inputTokens, output: last.usage.outputTokens },
  };
}

async function runLangChain(
  gateway: BootedGateway,
  fields: ConstructorParameters<typeof ChatOpenAI>[0] & object,
  stream: boolean,
): Promise<Outcome> {
  const model = new ChatOpenAI({
    apiKey: gateway.apiKey,
    configuration: { baseURL: `${gateway.url}/v1` },
    maxRetries: 0,
    ...fields,
  }).bindTools(TOOLS.map((definition) => ({ type: 'function', function: definition })));
  const send = async (messages: BaseMessage[]): Promise<AIMessageChunk> => {
    if (!stream) return model.invoke(messages);
    let whole: AIMessageChunk | undefined;
    for await (const chunk of await model.stream(messages)) whole = whole?.concat(chunk) ?? chunk;
    return whole!;
  };
  const question = [new SystemMessage(SYSTEM), new HumanMessage(QUESTION)];
  const first = await send(question);
  const calls = first.tool_calls ?? [];
  const results = calls.map(
    ({ id = '' }, index) => new ToolMessage({ tool_call_id: id, content: RESULTS[index]! }),
  );
  const { text, usage_metadata: usage } = await send([...question, first, ...results]);
  return {
    text,
    calls: calls.map(({ name, args }) => [name, args]),
    usage: { input: usage?.input_tokens, output: usage?.output_tokens },
  };
}

import OpenAI from 'openai';
import type { BootedGateway } from '../../support/boot-gateway.js';
import { QUESTION, RESULTS, SYSTEM, TOOLS } from '../contract-conversation.js';
import { HeaderRecorder, type CallerAnswer, type DialectCaller } from './dialect-caller.js';

type Params = Omit<OpenAI.Responses.ResponseCreateParamsNonStreaming, 'stream'>;

/** Responses by the official `openai` package; the second turn goes on from the stored first one. */
export function responsesCaller(gateway: Pick<BootedGateway, 'url' | 'apiKey'>): DialectCaller {
  const recorder = new HeaderRecorder();
  const client = new OpenAI({
    baseURL: `${gateway.url}/v1`,
    apiKey: gateway.apiKey,
    maxRetries: 0,
    fetch: recorder.fetch,
  });
  const tools = TOOLS.map(({ name, description, parameters }): OpenAI.Responses.FunctionTool => ({
    type: 'function',
    name,
    description: description!,
    parameters: parameters!,
    strict: null,
  }));

  async function send(params: Params, stream: boolean): Promise<CallerAnswer> {
    const raw = stream
      ? await client.responses.stream(params).finalResponse()
      : await client.responses.create(params);
    return {
      text: raw.output_text,
      toolCalls: raw.output.flatMap((item) =>
        item.type === 'function_call'
          ? [
              {
                id: item.call_id,
                name: item.name,
                arguments: JSON.parse(item.arguments) as unknown,
              },
            ]
          : [],
      ),
      end: raw.incomplete_details?.reason ?? raw.status,
      usage: {
        input: raw.usage?.input_tokens ?? NaN,
        output: raw.usage?.output_tokens ?? NaN,
        cacheRead: raw.usage?.input_tokens_details.cached_tokens ?? 0,
      },
      model: String(raw.model),
      headers: recorder.headers,
      raw,
    };
  }

  return {
    name: 'responses',
    ends: {
      stop: 'completed',
      length: 'max_output_tokens',
      tool_calls: 'completed',
      content_filter: 'content_filter',
    },
    open: (model, stream) =>
      send({ model, instructions: SYSTEM, input: QUESTION, tools, max_output_tokens: 256 }, stream),
    goOn: (model, stream, first) => {
      const { id } = first.raw as OpenAI.Responses.Response;
      const input = first.toolCalls.map((call, index) => ({
        type: 'function_call_output' as const,
        call_id: call.id,
        output: RESULTS[index]!,
      }));
      const previous_response_id = id;
      return send(
        {
          model,
          instructions: SYSTEM,
          previous_response_id,
          input,
          tools,
          max_output_tokens: 256,
        },
        stream,
      );
    },
    ask: (model, stream, extra = {}) => send({ model, input: 'Hello', ...extra }, stream),
  };
}

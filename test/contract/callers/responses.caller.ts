import OpenAI from 'openai';
import type { BootedGateway } from '../../support/boot-gateway.js';
import { QUESTION, RESULTS, SYSTEM, TOOLS } from '../contract-conversation.js';
import {
  HeaderRecorder,
  watchStream,
  type CallerAnswer,
  type DialectCaller,
} from './dialect-caller.js';

type Params = Omit<OpenAI.Responses.ResponseCreateParamsNonStreaming, 'stream'>;

/**
 * Calls Responses with the official `openai` package; each turn follows the stored previous one.
 *
 * @param options `isStateless` if nothing is stored and the client sends all items again
 */
export function responsesCaller(
  gateway: Pick<BootedGateway, 'url' | 'apiKey'>,
  { isStateless = false } = {},
): DialectCaller {
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

  const fields = {
    instructions: SYSTEM,
    tools,
    max_output_tokens: 256,
    ...(isStateless && { store: false, include: ['reasoning.encrypted_content' as const] }),
  };

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
    open: (model, stream) => send({ model, ...fields, input: QUESTION }, stream),
    answerTools: (model, stream, answers) => {
      if (isStateless) {
        const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: QUESTION }];
        for (const answer of answers) {
          // Output items become input; the package's types differ in items not used here.
          const output = responseOf(answer).output as OpenAI.Responses.ResponseInput;
          input.push(...output, ...results(answer));
        }
        return send({ model, ...fields, input }, stream);
      }
      const last = answers.at(-1)!;
      const previous_response_id = responseOf(last).id;
      return send({ model, ...fields, previous_response_id, input: results(last) }, stream);
    },
    ask: (model, stream, extra = {}) => send({ model, input: 'Hello', ...extra }, stream),
    watch: (model, extra = {}) =>
      watchStream(
        client.responses.create({ model, input: 'Hello', ...extra, stream: true }),
        (event, watched) => {
          if (watched.types.at(-1) !== event.type) watched.types.push(event.type);
          if (event.type === 'response.output_text.delta') watched.text += event.delta;
          if (event.type === 'response.failed') {
            const { code, message } = event.response.error!;
            watched.failure = { type: code, message };
          }
        },
      ),
    lastRequestId: recorder.lastRequestId,
  };
}

function responseOf({ raw }: CallerAnswer): OpenAI.Responses.Response {
  return raw as OpenAI.Responses.Response;
}

function results({ toolCalls }: CallerAnswer): OpenAI.Responses.ResponseInputItem[] {
  return toolCalls.map((call, index) => ({
    type: 'function_call_output',
    call_id: call.id,
    output: RESULTS[index]!,
  }));
}

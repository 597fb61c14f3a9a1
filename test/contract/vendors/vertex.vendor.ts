import { VertexAdapter } from '../../../src/vendors/vertex/vertex.adapter.js';
import type {
  ContractVendor,
  FailureKind,
  ReadRequest,
  Reply,
  ScriptedAnswer,
} from '../contract-vendor.js';
import { wordsOf } from '../words-of.js';

interface Part {
  text?: string;
  thought?: boolean;
  thoughtSignature?: string;
  functionCall?: { id?: string; name: string; args: unknown };
  functionResponse?: { name: string; response: { output?: string; error?: string } };
}

interface Body {
  systemInstruction?: { parts: Part[] };
  contents: { role: 'user' | 'model'; parts: Part[] }[];
  tools?: { functionDeclarations: { name: string }[] }[];
  toolConfig?: {
    functionCallingConfig: { mode: string; allowedFunctionNames?: [string, ...string[]] };
  };
  generationConfig: {
    maxOutputTokens?: number;
    temperature?: number;
    stopSequences?: string[];
  };
}

const JSON_TYPE = { 'content-type': 'application/json; charset=UTF-8' };
const ANSWER = { modelVersion: 'gemini-3.5-flash', responseId: 'response-1' };

const FINISH_REASONS: Record<ScriptedAnswer['finish'], string> = {
  stop: 'STOP',
  length: 'MAX_TOKENS',
  tool_calls: 'STOP',
  content_filter: 'SAFETY',
};

const FAILURES: Record<FailureKind, [number, string, string, object[]?]> = {
  rate_limited: [
    429,
    'RESOURCE_EXHAUSTED',
    'Resource exhausted, please try again later.',
    [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '1s' }],
  ],
  overloaded: [503, 'UNAVAILABLE', 'The model is overloaded. Please try again later.'],
  server: [500, 'INTERNAL', 'Internal error encountered.'],
  bad_request: [400, 'INVALID_ARGUMENT', 'Invalid value at contents[0].parts[0].'],
  context_length: [
    400,
    'INVALID_ARGUMENT',
    'The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).',
  ],
  bad_key: [
    401,
    'UNAUTHENTICATED',
    'Request had invalid authentication credentials. Expected OAuth 2 access token.',
  ],
};

/** Gemini on Google Vertex AI. */
export const VERTEX: ContractVendor = {
  name: 'vertex',
  upstreamModel: 'gemini-3.5-flash',
  provider: {
    adapter: 'vertex',
    type: 'gcp',
    settings: { project: 'my-project', location: 'global' },
  },

  createAdapter: (origin, { transport }) =>
    new VertexAdapter(
      {
        id: 'vertex',
        name: 'Google Vertex AI',
        adapter: 'vertex',
        type: 'gcp',
        baseUrl: origin,
        apiKey: 'vertex-contract-token',
        settings: { project: 'my-project', location: 'global' },
      },
      transport,
    ),

  whole: (answer) => ({
    status: 200,
    headers: JSON_TYPE,
    body: Buffer.from(
      JSON.stringify({
        candidates: [candidateOf(partsOf(answer), answer)],
        usageMetadata: usageOf(answer),
        ...ANSWER,
      }),
    ),
  }),

  stream(answer) {
    const chunks = partsOf(answer, { inPieces: true }).map((part) => ({
      candidates: [{ content: { role: 'model', parts: [part] } }],
      usageMetadata: { promptTokenCount: answer.usage.input },
      ...ANSWER,
    }));
    const last = {
      candidates: [candidateOf([{ text: '' }], answer)],
      usageMetadata: usageOf(answer),
      ...ANSWER,
    };
    return streamOf([...chunks, ...(answer.withoutFinish === true ? [] : [last])]);
  },

  failure(kind) {
    const [status, code, message, details] = FAILURES[kind];
    const error = { code: status, message, status: code, ...(details && { details }) };
    return { status, headers: JSON_TYPE, body: Buffer.from(JSON.stringify({ error })) };
  },

  streamFailure: (text) =>
    streamOf([
      { candidates: [{ content: { role: 'model', parts: [{ text }] } }], ...ANSWER },
      { error: { code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE' } },
    ]),

  readRequest({ path, body }): ReadRequest {
    const request = JSON.parse(body.toString('utf8')) as Body;
    const { generationConfig } = request;
    return {
      system: (request.systemInstruction?.parts ?? []).map((part) => part.text).join(''),
      turns: request.contents.map(({ role, parts }) => ({
        role: role === 'model' ? 'assistant' : 'user',
        text: parts.map((part) => (part.thought === true ? '' : (part.text ?? ''))).join(''),
        toolCalls: parts.flatMap(({ functionCall }) =>
          functionCall ? [{ name: functionCall.name, arguments: functionCall.args }] : [],
        ),
        toolResults: parts.flatMap(({ functionResponse: result }) =>
          result ? [result.response.output ?? result.response.error ?? ''] : [],
        ),
      })),
      tools: (request.tools ?? []).flatMap((tool) =>
        tool.functionDeclarations.map((declaration) => declaration.name),
      ),
      toolChoice: choiceOf(request.toolConfig?.functionCallingConfig),
      maxOutputTokens: generationConfig.maxOutputTokens,
      temperature: generationConfig.temperature,
      stop: generationConfig.stopSequences ?? [],
      stream: path.includes(':streamGenerateContent'),
    };
  },
};

function partsOf(answer: ScriptedAnswer, { inPieces = false } = {}): Part[] {
  const { text = '', reasoning, toolCalls = [] } = answer;
  const texts = inPieces ? wordsOf(text) : [text];
  return [
    ...(reasoning
      ? [
          {
            text: reasoning.text,
            thought: true,
            ...(reasoning.signature !== undefined && { thoughtSignature: reasoning.signature }),
          },
        ]
      : []),
    ...texts.filter((piece) => piece !== '').map((piece) => ({ text: piece })),
    ...toolCalls.map(({ id, name, arguments: args, signature }) => ({
      functionCall: { id, name, args: JSON.parse(args) as unknown },
      ...(signature !== undefined && { thoughtSignature: signature }),
    })),
  ];
}

function candidateOf(parts: Part[], { finish, withoutFinish }: ScriptedAnswer): object {
  return {
    content: { role: 'model', parts },
    ...(withoutFinish !== true && { finishReason: FINISH_REASONS[finish] }),
  };
}

function usageOf({ usage }: ScriptedAnswer): object {
  const { input, output, cacheRead, reasoning } = usage;
  return {
    promptTokenCount: input,
    candidatesTokenCount: output - (reasoning ?? 0),
    ...(reasoning !== undefined && { thoughtsTokenCount: reasoning }),
    ...(cacheRead !== undefined && { cachedContentTokenCount: cacheRead }),
    totalTokenCount: input + output,
  };
}

function streamOf(chunks: object[]): Reply & { pieces: Buffer[] } {
  const pieces = chunks.map((chunk) => Buffer.from(`data: ${JSON.stringify(chunk)}\r\n\r\n`));
  const headers = { 'content-type': 'text/event-stream' };
  return { status: 200, headers, body: Buffer.concat(pieces), pieces };
}

function choiceOf(
  config: NonNullable<Body['toolConfig']>['functionCallingConfig'] | undefined,
): ReadRequest['toolChoice'] {
  switch (config?.mode) {
    case 'AUTO':
    case 'VALIDATED':
      return 'auto';
    case 'NONE':
      return 'none';
    case 'ANY':
      return config.allowedFunctionNames ? { name: config.allowedFunctionNames[0] } : 'required';
    default:
      return undefined;
  }
}

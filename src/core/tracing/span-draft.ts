import type { Attributes } from '@opentelemetry/api';

/**
 * Attributes of the semantic conventions for generative AI. The conventions are unstable, and their
 * package recommends copying such names over importing them.
 */
export const GEN_AI = {
  operationName: 'gen_ai.operation.name',
  /** Former name of `providerName`; many collectors still use it. */
  system: 'gen_ai.system',
  providerName: 'gen_ai.provider.name',
  outputType: 'gen_ai.output.type',
  requestModel: 'gen_ai.request.model',
  requestStream: 'gen_ai.request.stream',
  requestMaxTokens: 'gen_ai.request.max_tokens',
  requestTemperature: 'gen_ai.request.temperature',
  requestTopP: 'gen_ai.request.top_p',
  requestTopK: 'gen_ai.request.top_k',
  requestFrequencyPenalty: 'gen_ai.request.frequency_penalty',
  requestPresencePenalty: 'gen_ai.request.presence_penalty',
  requestSeed: 'gen_ai.request.seed',
  requestStopSequences: 'gen_ai.request.stop_sequences',
  requestChoiceCount: 'gen_ai.request.choice.count',
  requestEncodingFormats: 'gen_ai.request.encoding_formats',
  embeddingsDimensionCount: 'gen_ai.embeddings.dimension.count',
  responseId: 'gen_ai.response.id',
  responseModel: 'gen_ai.response.model',
  responseFinishReasons: 'gen_ai.response.finish_reasons',
  responseTimeToFirstChunk: 'gen_ai.response.time_to_first_chunk',
  usageInputTokens: 'gen_ai.usage.input_tokens',
  usageOutputTokens: 'gen_ai.usage.output_tokens',
  usageCacheReadInputTokens: 'gen_ai.usage.cache_read.input_tokens',
  usageCacheCreationInputTokens: 'gen_ai.usage.cache_creation.input_tokens',
  usageReasoningOutputTokens: 'gen_ai.usage.reasoning.output_tokens',
  systemInstructions: 'gen_ai.system_instructions',
  inputMessages: 'gen_ai.input.messages',
  outputMessages: 'gen_ai.output.messages',
} as const;

export const ERROR_TYPE = 'error.type';

export const HTTP_STATUS = 'http.response.status_code';

export const CONTENT_TRUNCATED = 'gateway.content.truncated';

/** Attributes that contain or reveal content. */
const CONTENT_ATTRIBUTES: ReadonlySet<string> = new Set([
  GEN_AI.systemInstructions,
  GEN_AI.inputMessages,
  GEN_AI.outputMessages,
  CONTENT_TRUNCATED,
]);

/**
 * The data of a span. Plain JSON, so that a trace is cheap until a sink takes it; `toSpans`
 * converts it to OpenTelemetry's spans.
 */
export interface SpanDraft {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** From the caller's `tracestate`. */
  readonly traceState?: string | undefined;
  /** 16 hexadecimal digits, like the parent's. */
  readonly spanId: string;
  readonly parentSpanId?: string | undefined;
  /** True when the parent is the caller's own span. */
  readonly isParentRemote: boolean;
  readonly name: string;
  readonly kind: 'client' | 'server' | 'internal';
  /** In Unix ms. */
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Attributes;
  /** Type of the failure. */
  readonly error?: string | undefined;
}

/** Returns the spans without prompts and answers. */
export function withoutContent(drafts: readonly SpanDraft[]): SpanDraft[] {
  return drafts.map((draft) => {
    const entries = Object.entries(draft.attributes);
    const kept = entries.filter(([name]) => !CONTENT_ATTRIBUTES.has(name));
    return kept.length === entries.length
      ? draft
      : { ...draft, attributes: Object.fromEntries(kept) };
  });
}

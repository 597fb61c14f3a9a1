import type { ConverseTraits, ReasoningStyle } from '../dialects/converse/converse-traits.js';

/** Traits of unknown models, for example an operator's own inference profile. */
const UNKNOWN: ConverseTraits = {
  signatureIssuer: 'bedrock',
  redactedIssuer: 'bedrock-redacted',
  reasoning: { kind: 'none' },
  samplers: 'both',
  topK: 'none',
  stops: 'any',
  nativeSchemas: false,
  strictTools: false,
  forcedTools: 'any-or-named',
  singleToolCalls: false,
  toolResultStatus: false,
  toolIds: 'any',
  cachePoints: 'none',
  longCache: false,
  namesStopSequence: false,
};

const OLD_CLAUDE: ConverseTraits = {
  ...UNKNOWN,
  // The model's maker signs, and signatures are valid at every vendor of the model.
  signatureIssuer: 'anthropic',
  redactedIssuer: 'bedrock-claude-redacted',
  topK: 'field',
  stops: 'not-blank',
  singleToolCalls: true,
  toolResultStatus: true,
  cachePoints: 'everywhere',
  namesStopSequence: true,
};

const CLAUDE_4: ConverseTraits = {
  ...OLD_CLAUDE,
  reasoning: { kind: 'budget' },
  samplers: 'one',
};

const CLAUDE_4_5: ConverseTraits = {
  ...CLAUDE_4,
  nativeSchemas: true,
  strictTools: true,
  longCache: true,
};

const CLAUDE_4_6: ConverseTraits = {
  ...CLAUDE_4_5,
  reasoning: { kind: 'adaptive', off: 'out', isHidden: false },
};

/** Newer models do not support sampling controls, and Bedrock's copy of the schema has gaps. */
function newClaude(
  off: Extract<ReasoningStyle, { kind: 'adaptive' }>['off'],
  rest: Partial<ConverseTraits> = {},
): ConverseTraits {
  return {
    ...CLAUDE_4_6,
    reasoning: { kind: 'adaptive', off, isHidden: true },
    samplers: 'none',
    topK: 'none',
    nativeSchemas: false,
    strictTools: false,
    ...rest,
  };
}

/** Cannot be forced to call tools, but supports schemas. */
const CLAUDE_5_5: ConverseTraits = newClaude('never', { forcedTools: 'none', nativeSchemas: true });

const NOVA: ConverseTraits = {
  ...UNKNOWN,
  redactedIssuer: 'bedrock-nova-redacted',
  topK: 'inference-config',
  toolResultStatus: true,
  cachePoints: 'not-in-tools',
};

const GPT: ConverseTraits = {
  ...UNKNOWN,
  redactedIssuer: 'bedrock-gpt-redacted',
  reasoning: { kind: 'nested-effort' },
  samplers: 'none',
  stops: 'none',
  nativeSchemas: true,
};

const GPT_OSS: ConverseTraits = {
  ...GPT,
  reasoning: { kind: 'flat-effort' },
  samplers: 'both',
};

/**
 * Traits by model id; the first match counts. Ids may have the prefix of a region or profile, or be the end
 * of an ARN.
 */
const MODELS: readonly [RegExp, ConverseTraits][] = [
  [/anthropic\.claude-(?:v2|instant|3-5|3-(?:opus|sonnet|haiku))/, OLD_CLAUDE],
  [/anthropic\.claude-(?:3-7-sonnet|(?:opus|sonnet)-4-(?:1-|2\d{7}))/, CLAUDE_4],
  [/anthropic\.claude-(?:opus|sonnet|haiku)-4-5/, CLAUDE_4_5],
  [/anthropic\.claude-(?:opus|sonnet)-4-6/, CLAUDE_4_6],
  [/anthropic\.claude-opus-4-[78]/, newClaude('out')],
  [/anthropic\.claude-haiku-5-5/, newClaude('disabled', { nativeSchemas: true })],
  [/anthropic\.claude-(?:opus|sonnet)-5(?!-5)/, newClaude('disabled')],
  [/anthropic\.claude-(?:fable|mythos)-5(?!-[1-9])/, newClaude('never')],
  [/anthropic\.claude/, CLAUDE_5_5],
  [/amazon\.nova-2/, { ...NOVA, reasoning: { kind: 'reasoning-config' } }],
  [/amazon\.nova/, NOVA],
  [/meta\.llama/, { ...UNKNOWN, stops: 'none', forcedTools: 'none' }],
  [
    /mistral\.mistral-large/,
    { ...UNKNOWN, nativeSchemas: true, forcedTools: 'any', toolIds: 'nine-characters' },
  ],
  [
    /mistral\./,
    { ...UNKNOWN, nativeSchemas: true, forcedTools: 'none', toolIds: 'nine-characters' },
  ],
  [/deepseek\.v3/, { ...UNKNOWN, nativeSchemas: true, stops: 'none' }],
  [/openai\.gpt-oss/, GPT_OSS],
  [/openai\./, GPT],
  [/qwen\./, { ...UNKNOWN, nativeSchemas: true, stops: 'none' }],
  [/moonshot(?:ai)?\./, { ...UNKNOWN, nativeSchemas: true, reasoning: { kind: 'flat-effort' } }],
];

/** Returns the traits of a model behind Bedrock. @param modelId its id, an inference profile's, or an ARN */
export function bedrockTraits(modelId: string): ConverseTraits {
  return MODELS.find(([pattern]) => pattern.test(modelId))?.[1] ?? UNKNOWN;
}

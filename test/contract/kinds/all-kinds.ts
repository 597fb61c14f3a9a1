import { loadPresets } from '../../../src/vendors/presets/load-presets.js';
import type { Vendor } from '../../../src/vendors/vendor.js';
import { USAGE, VIDEO } from '../../support/openai-media-answers.js';
import { TWO_CALLS } from '../contract-conversation.js';
import type { ContractVendor, Reply, ScriptedAnswer } from '../contract-vendor.js';
import { anthropicVendor } from '../vendors/anthropic.vendor.js';
import { azureVendor } from '../vendors/azure.vendor.js';
import { bedrockVendor } from '../vendors/bedrock.vendor.js';
import { openAiVendor } from '../vendors/openai.vendor.js';
import { VERTEX } from '../vendors/vertex.vendor.js';
import { CHAT_FEATURES, type ChatFeature, type KindContract } from './kind-contract.js';

const ANSWER: ScriptedAnswer = {
  text: 'Hello there.',
  finish: 'stop',
  usage: { input: 12, output: 3 },
};
const VECTOR = [0.5, 0.25];
const SOUND = Buffer.alloc(5_000, 3);
const PICTURE = Buffer.from('\x89PNG\r\n\x1a\n and more', 'latin1');
const FILM = Buffer.from('\0\0\0\x20ftypisom and more', 'latin1');
const PROJECT = { project: 'my-project', location: 'global' };
const VEO = 'veo-3.1-generate-001';
const FILMING = {
  name: `projects/my-project/locations/global/publishers/google/models/${VEO}/operations/7d4a-11`,
};

const json = (body: object): Reply =>
  bytes(Buffer.from(JSON.stringify(body)), { 'content-type': 'application/json' });
const bytes = (body: Buffer, headers: Record<string, string>): Reply => ({
  status: 200,
  headers,
  body,
});

const vectors = json({
  object: 'list',
  data: [{ object: 'embedding', index: 0, embedding: VECTOR }],
  model: 'some-model',
  usage: { prompt_tokens: 2, total_tokens: 2 },
});
const sound = bytes(SOUND, { 'content-type': 'audio/wav' });
const pictures = json({
  created: 1,
  data: [{ b64_json: PICTURE.toString('base64') }],
  usage: USAGE,
});

const EMBEDDED = { content: [VECTOR], usage: { inputTokens: 2 } };
const SPOKEN = { content: SOUND };
const HEARD = { content: 'Hello there.', usage: { audioMs: 1_500 } };
const DRAWN = { content: PICTURE, usage: { imageCount: 1 } };

/** Creates a contract from a vendor's answer, the expected result and the expected request. */
function featureOf(
  feature: ChatFeature,
  { whole, stream }: ContractVendor,
): Pick<KindContract, 'answers' | 'expected' | 'sent'> {
  const usage = { inputTokens: 12, outputTokens: 3 };
  switch (feature) {
    case 'streaming':
      return { answers: [stream(ANSWER)], expected: { content: ANSWER.text, usage } };
    case 'tools':
      return {
        answers: [whole(TWO_CALLS)],
        expected: {
          content: TWO_CALLS.toolCalls!.map((call) => [
            call.name,
            JSON.parse(call.arguments) as unknown,
          ]),
          usage: { inputTokens: TWO_CALLS.usage.input },
        },
        sent: 'get_weather',
      };
    case 'structured output': {
      const text = '{"colour_of_sky":"blue"}';
      return {
        answers: [whole({ ...ANSWER, text })],
        expected: { content: text, usage },
        sent: 'colour_of_sky',
      };
    }
  }
}

/** Contracts for a complete text and for every chat feature. */
function chatsAt(
  vendor: string,
  contract: ContractVendor,
  traits: Pick<KindContract, 'settings'> = {},
): KindContract[] {
  const text = { ...chatAt(vendor, contract), ...traits };
  return [
    text,
    ...CHAT_FEATURES.map((feature) => ({ ...text, feature, ...featureOf(feature, contract) })),
  ];
}

function chatAt(vendor: string, contract: ContractVendor): KindContract {
  const { upstreamModel: model, callerDialect: dialect, provider } = contract;
  return {
    vendor,
    kind: 'chat',
    model,
    ...(dialect && { dialect }),
    ...(provider?.settings && { settings: provider.settings }),
    ...(provider?.basePath && { basePath: provider.basePath }),
    answers: [contract.whole(ANSWER)],
    expected: { content: ANSWER.text, usage: { inputTokens: 12, outputTokens: 3 } },
  };
}

/** Vendors that support no tools and reject them. */
const WITHOUT_TOOLS: ReadonlySet<string> = new Set(['perplexity']);

/** Contracts of a vendor with the chat dialect's API, for the kinds that its folder declares. */
function presetContracts({ id: vendor, kinds }: Vendor): KindContract[] {
  return kinds.flatMap((kind): KindContract[] => {
    if (kind === 'embedding') {
      return [{ vendor, kind, model: 'embedder', answers: [vectors], expected: EMBEDDED }];
    }
    if (kind === 'transcription') {
      const transcript = { text: 'Hello there.', duration: 1.5, segments: [] };
      return [{ vendor, kind, model: 'whisper', answers: [json(transcript)], expected: HEARD }];
    }
    return chatsAt(vendor, { ...openAiVendor, upstreamModel: 'some-model' }).map((contract) =>
      contract.feature === 'tools' && WITHOUT_TOOLS.has(vendor)
        ? { ...contract, isRefused: true }
        : contract,
    );
  });
}

/** Every kind of work at every vendor, in the vendor's wire format. */
export const ALL_KINDS: readonly KindContract[] = [
  ...chatsAt('openai', openAiVendor),
  ...chatsAt('anthropic', anthropicVendor),
  ...chatsAt('azure', azureVendor),
  ...chatsAt('bedrock', bedrockVendor),
  ...chatsAt('vertex', VERTEX),
  {
    vendor: 'openai',
    kind: 'embedding',
    model: 'text-embedding-3-small',
    answers: [vectors],
    expected: EMBEDDED,
  },
  {
    vendor: 'azure',
    kind: 'embedding',
    model: 'my-deployment',
    answers: [vectors],
    expected: EMBEDDED,
  },
  {
    vendor: 'bedrock',
    kind: 'embedding',
    model: 'cohere.embed-english-v3',
    settings: { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', region: 'us-east-1' },
    answers: [json({ embeddings: [VECTOR] })],
    expected: { content: [VECTOR] },
  },
  {
    vendor: 'vertex',
    kind: 'embedding',
    model: 'text-embedding-005',
    settings: PROJECT,
    answers: [
      json({ predictions: [{ embeddings: { values: VECTOR, statistics: { token_count: 2 } } }] }),
    ],
    expected: EMBEDDED,
  },
  { vendor: 'openai', kind: 'speech', model: 'tts-1', answers: [sound], expected: SPOKEN },
  { vendor: 'fish-audio', kind: 'speech', model: 's1', answers: [sound], expected: SPOKEN },
  { vendor: 'elevenlabs', kind: 'speech', model: 'eleven_v3', answers: [sound], expected: SPOKEN },
  { vendor: 'deepgram', kind: 'speech', model: 'aura-2', answers: [sound], expected: SPOKEN },
  {
    vendor: 'openai',
    kind: 'transcription',
    model: 'gpt-4o-transcribe',
    answers: [
      json({
        text: 'Hello there.',
        usage: { type: 'tokens', input_tokens: 14, output_tokens: 4, total_tokens: 18 },
      }),
    ],
    expected: { content: 'Hello there.', usage: { inputTokens: 14, outputTokens: 4 } },
  },
  {
    vendor: 'fish-audio',
    kind: 'transcription',
    model: 'transcribe-1',
    answers: [
      json({
        text: 'Hello there.',
        duration: 1.5,
        segments: [{ text: 'Hello there.', start: 0, end: 1.5 }],
      }),
    ],
    expected: HEARD,
  },
  {
    vendor: 'elevenlabs',
    kind: 'transcription',
    model: 'scribe_v2',
    answers: [
      json({
        language_code: 'eng',
        language_probability: 0.9,
        text: 'Hello there.',
        words: [{ text: 'Hello there.', type: 'word', start: 0, end: 1.5, logprob: -0.1 }],
        audio_duration_secs: 1.5,
      }),
    ],
    expected: HEARD,
  },
  {
    vendor: 'deepgram',
    kind: 'transcription',
    model: 'nova-3',
    answers: [
      json({
        metadata: { request_id: 'r1', duration: 1.5, channels: 1 },
        results: { channels: [{ alternatives: [{ transcript: 'Hello there.', words: [] }] }] },
      }),
    ],
    expected: HEARD,
  },
  { vendor: 'openai', kind: 'image', model: 'gpt-image-1', answers: [pictures], expected: DRAWN },
  { vendor: 'azure', kind: 'image', model: 'my-deployment', answers: [pictures], expected: DRAWN },
  {
    vendor: 'vertex',
    kind: 'image',
    model: 'imagen-4.0-generate-001',
    settings: PROJECT,
    answers: [
      json({
        predictions: [{ bytesBase64Encoded: PICTURE.toString('base64'), mimeType: 'image/png' }],
      }),
    ],
    expected: DRAWN,
  },
  {
    vendor: 'openai',
    kind: 'video',
    model: 'sora-2',
    answers: [
      json(VIDEO),
      json({ ...VIDEO, status: 'completed', progress: 100 }),
      bytes(FILM, { 'content-type': 'video/mp4' }),
    ],
    expected: { content: FILM, usage: { videoSeconds: 8 } },
  },
  {
    vendor: 'vertex',
    kind: 'video',
    model: VEO,
    settings: PROJECT,
    answers: [
      json(FILMING),
      json({
        ...FILMING,
        done: true,
        response: {
          videos: [{ bytesBase64Encoded: FILM.toString('base64'), mimeType: 'video/mp4' }],
        },
      }),
    ],
    expected: { content: FILM, usage: { videoSeconds: 4 } },
  },
  ...chatsAt('google', VERTEX, { settings: {} }),
  {
    vendor: 'google',
    kind: 'embedding',
    model: 'gemini-embedding-001',
    answers: [json({ embeddings: [{ values: VECTOR }] })],
    expected: { content: [VECTOR] },
  },
  ...loadPresets().flatMap(presetContracts),
  { vendor: 'sandbox', kind: 'chat', model: 'echo', answers: [] },
  ...CHAT_FEATURES.map((feature): KindContract => ({
    vendor: 'sandbox',
    kind: 'chat',
    model: 'echo',
    feature,
    answers: [],
  })),
  { vendor: 'sandbox', kind: 'embedding', model: 'embedding', answers: [] },
  { vendor: 'sandbox', kind: 'speech', model: 'speech', answers: [] },
  { vendor: 'sandbox', kind: 'transcription', model: 'transcription', answers: [] },
  { vendor: 'sandbox', kind: 'image', model: 'image', answers: [] },
  { vendor: 'sandbox', kind: 'video', model: 'video', answers: [] },
];

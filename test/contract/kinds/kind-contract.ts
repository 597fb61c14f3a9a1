import { setTimeout as wait } from 'node:timers/promises';
import type { CancelSignal } from '../../../src/canonical/cancel-signal.js';
import type { Dialect } from '../../../src/canonical/canonical-request.js';
import type { Usage } from '../../../src/canonical/usage.js';
import type { WorkEvent } from '../../../src/canonical/canonical-event.js';
import type { MediaRequest, TranscriptionRequest } from '../../../src/canonical/work-request.js';
import type { Upstream, WorkCall } from '../../../src/vendors/upstream.js';
import type { VendorKind } from '../../../src/vendors/vendor.js';
import { canonicalRequest, type PromptOverrides } from '../../support/canonical-requests.js';
import { embeddingRequest } from '../../support/embedding-requests.js';
import {
  imageRequest,
  mediaCall,
  readBytes,
  speechRequest,
  videoRequest,
} from '../../support/media-requests.js';
import { firstTurn } from '../contract-conversation.js';
import type { Reply } from '../contract-vendor.js';

/** Features of a chat beyond a complete text. */
export const CHAT_FEATURES = ['streaming', 'tools', 'structured output'] as const;
export type ChatFeature = (typeof CHAT_FEATURES)[number];

/** The schema that answers must match. */
export const SCHEMA = {
  type: 'object',
  properties: { colour_of_sky: { type: 'string' } },
  required: ['colour_of_sky'],
  additionalProperties: false,
};

/** One kind of work at one vendor: its answers and the expected result. */
export interface KindContract {
  /** The vendor's id. */
  vendor: string;
  kind: VendorKind;
  /** The vendor's own model id. */
  model: string;
  /** The vendor's answers in the order of the calls; empty if it needs no network. */
  answers: readonly Reply[];
  /** The path in the provider's address after the server's origin. */
  basePath?: string;
  settings?: Readonly<Record<string, string>>;
  /** The feature of a chat; undefined for a complete text. */
  feature?: ChatFeature;
  /** Text that must be in the body the vendor gets. */
  sent?: string;
  /** Set if the vendor lacks the feature and rejects it without a call. */
  isRefused?: true;
  /** The dialect of a chat, which the adapter must translate to yield text; by default `chat`. */
  dialect?: Dialect;
  /**
   * The expected content; any content will do for a vendor without a network. Without `usage`, the vendor
   * counts nothing and the request's estimate applies.
   */
  expected?: { content: unknown; usage?: Partial<Usage> };
}

/** The result of work: text, vectors or bytes. */
export interface Outcome {
  content: unknown;
  usage: Usage | undefined;
}

/** An uploaded recording. */
export interface Recording {
  path: string;
  sizeBytes: number;
}

/** Completes work of a kind. @throws what the adapter throws */
export async function doWork(
  upstream: Upstream,
  { kind, model, dialect = 'chat', feature }: KindContract,
  { recording, signal }: { recording: Recording; signal: CancelSignal },
): Promise<Outcome> {
  switch (kind) {
    case 'chat':
      return chat(upstream, model, dialect, { feature, signal });
    case 'embedding': {
      const call = { ...mediaCall(embeddingRequest({ input: ['Hello there'] }), model), signal };
      const { outputs, usage } = await collect(upstream.embed!(call).events);
      return { content: outputs.flat(), usage };
    }
    case 'speech': {
      const call = { ...mediaCall(speechRequest('Hello.', { response_format: 'wav' }), model) };
      const { outputs, usage } = await collect(upstream.speak!({ ...call, signal }).events);
      return { content: Buffer.concat(outputs.map(({ bytes }) => bytes)), usage };
    }
    case 'transcription': {
      const call = { ...mediaCall(transcriptionRequest(recording), model), signal };
      const { outputs, usage } = await collect(upstream.transcribe!(call).events);
      const { text } = JSON.parse(outputs[0]!.bytes.toString()) as { text: string };
      return { content: text, usage };
    }
    case 'image':
      return make(upstream, { ...mediaCall(imageRequest(), model), signal });
    case 'video':
      return make(upstream, { ...mediaCall(videoRequest({ seconds: 4 }), model), signal });
  }
}

async function chat(
  upstream: Upstream,
  upstreamModel: string,
  dialect: Dialect,
  { feature, signal }: { feature: ChatFeature | undefined; signal: CancelSignal },
): Promise<Outcome> {
  const stream = feature === 'streaming';
  const request = canonicalRequest(promptOf(feature), { dialect, maxOutputTokens: 256, stream });
  const { alias, limits } = mediaCall(imageRequest(), upstreamModel);
  const call = { request, alias, limits, upstreamModel, maxOutputTokens: 256, signal };
  const calls: { name: string; arguments: string }[] = [];
  let text = '';
  let usage: Usage | undefined;
  for await (const event of upstream.generate(call)) {
    if (event.type === 'text') text += event.text;
    if (event.type === 'usage') usage = event.usage;
    if (event.type === 'tool_call') calls[event.index] = { name: event.name, arguments: '' };
    if (event.type === 'tool_arguments') calls[event.index]!.arguments += event.text;
  }
  const read = calls.map((each) => [each.name, JSON.parse(each.arguments) as unknown]);
  return { content: feature === 'tools' ? read : text, usage };
}

function promptOf(feature: ChatFeature | undefined): PromptOverrides {
  if (feature === 'tools') return firstTurn();
  if (feature !== 'structured output') return {};
  return { responseFormat: { type: 'json_schema', name: 'sky', schema: SCHEMA, strict: true } };
}

async function make(upstream: Upstream, call: WorkCall<MediaRequest>): Promise<Outcome> {
  let progress = await upstream.submitMedia!(call);
  while (progress.state === 'running') {
    await wait(progress.pollAfterMs ?? 0);
    progress = await upstream.pollMedia!({ ...call, operation: progress.operation });
  }
  const [file] = progress.files;
  return { content: await readBytes(file!.bytes), usage: progress.usage };
}

async function collect<Output>(events: AsyncIterable<WorkEvent<Output>>) {
  const outputs: Output[] = [];
  let usage: Usage | undefined;
  for await (const event of events) {
    if (event.type === 'output') outputs.push(event.output);
    if (event.type === 'usage') usage = event.usage;
  }
  return { outputs, usage };
}

function transcriptionRequest({ path, sizeBytes }: Recording): TranscriptionRequest {
  return {
    ...speechRequest(''),
    kind: 'transcription',
    task: 'transcribe',
    body: { value: { model: 'any/model' } },
    audio: { path, sizeBytes, fileName: 'a.wav', contentType: 'audio/wav', durationMs: 1_600 },
    language: 'en',
    prompt: undefined,
    format: 'json',
    temperature: undefined,
    timestampGranularities: [],
  };
}

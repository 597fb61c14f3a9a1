import { setTimeout as wait } from 'node:timers/promises';
import type { CancelSignal } from '../../../src/canonical/cancel-signal.js';
import type { Dialect } from '../../../src/canonical/canonical-request.js';
import type { Usage } from '../../../src/canonical/usage.js';
import type { WorkEvent } from '../../../src/canonical/canonical-event.js';
import type { MediaRequest, TranscriptionRequest } from '../../../src/canonical/work-request.js';
import type { Upstream, WorkCall } from '../../../src/vendors/upstream.js';
import type { VendorKind } from '../../../src/vendors/vendor.js';
import { canonicalRequest } from '../../support/canonical-requests.js';
import { embeddingRequest } from '../../support/embedding-requests.js';
import {
  imageRequest,
  mediaCall,
  readBytes,
  speechRequest,
  videoRequest,
} from '../../support/media-requests.js';
import type { Reply } from '../contract-vendor.js';

/** One kind of work at one vendor: how it answers, and what has to come of that. */
export interface KindContract {
  /** The vendor's id. */
  vendor: string;
  kind: VendorKind;
  /** The vendor's own model id. */
  model: string;
  /** What the vendor answers to each call, in order; none: it needs no network. */
  answers: readonly Reply[];
  /** What follows the server's origin in the address of the provider. */
  basePath?: string;
  settings?: Readonly<Record<string, string>>;
  /** Of a chat: one that the adapter translates, so that it gives text; by default `chat`. */
  dialect?: Dialect;
  /**
   * What the answers say; a vendor without a network only has to say something. Without `usage` the
   * vendor counts nothing, and the request's estimate holds.
   */
  expected?: { content: unknown; usage?: Partial<Usage> };
}

/** What work came to: text, vectors or bytes. */
export interface Outcome {
  content: unknown;
  usage: Usage | undefined;
}

/** A recording, as it was uploaded. */
export interface Recording {
  path: string;
  sizeBytes: number;
}

/** Does the work of a kind to its end. @throws what the adapter throws */
export async function doWork(
  upstream: Upstream,
  { kind, model, dialect = 'chat' }: KindContract,
  { recording, signal }: { recording: Recording; signal: CancelSignal },
): Promise<Outcome> {
  switch (kind) {
    case 'chat':
      return chat(upstream, model, dialect, signal);
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
  signal: CancelSignal,
): Promise<Outcome> {
  const request = canonicalRequest({}, { dialect, maxOutputTokens: 256 });
  const { alias, limits } = mediaCall(imageRequest(), upstreamModel);
  const call = { request, alias, limits, upstreamModel, maxOutputTokens: 256, signal };
  const outcome: Outcome & { content: string } = { content: '', usage: undefined };
  for await (const event of upstream.generate(call)) {
    if (event.type === 'text') outcome.content += event.text;
    if (event.type === 'usage') outcome.usage = event.usage;
  }
  return outcome;
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

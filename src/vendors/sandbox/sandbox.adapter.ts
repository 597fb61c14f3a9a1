import { setImmediate as nextTurn } from 'node:timers/promises';
import type { CanonicalEvent, WorkEvent } from '../../canonical/canonical-event.js';
import type {
  CanonicalMessage,
  CanonicalPrompt,
  CanonicalRequest,
  ToolDefinition,
} from '../../canonical/canonical-request.js';
import type {
  MediaRequest,
  Transcript,
  TranscriptionRequest,
  AudioPiece,
  SpeechRequest,
  EmbeddingRequest,
  EmbeddingVectors,
  EditedImages,
  ImageEditRequest,
} from '../../canonical/work-request.js';
import { namesRead, PROMPT_FIELDS, type PromptField } from '../../canonical/prompt-field-table.js';
import { unsupportedFields } from '../../canonical/prompt-fields.js';
import { NO_USAGE } from '../../canonical/usage.js';
import { speakAtLength } from '../dialects/audio/speak-at-length.js';
import { speakTones, transcribeTones } from './sandbox-audio.js';
import { droppedEmbeddingFields } from '../dialects/embeddings/embedding-items.js';
import { embedWords, MAX_SANDBOX_DIMENSIONS, SANDBOX_DIMENSIONS } from './embed-words.js';
import { sampleOfSchema } from './sample-of-schema.js';
import {
  pollVideo,
  drawImages,
  redrawImages,
  submitVideo,
  SANDBOX_IMAGE_FIELDS,
  SANDBOX_VIDEO_FIELDS,
} from './sandbox-media.js';
import { simulateFault } from './simulate-fault.js';
import { unknownFields } from '../dialects/media/media-fields.js';
import type { MediaProgress } from '../media-work.js';
import { CallAbortedError } from '../transport/upstream-response.js';
import { UpstreamError } from '../upstream-error.js';
import type { OperationCall, Upstream, UpstreamCall, UpstreamWork, WorkCall } from '../upstream.js';

const WORDS =
  'the sandbox answers without a network or a key so every word of this text is made up on the spot and the same each time'.split(
    ' ',
  );
const DEFAULT_WORD_COUNT = 50;
/** The text that `fault-cut` begins, and that the resuming route completes. */
const INTERRUPTED_ANSWER =
  'Sandbox: this answer is interrupted in the middle, and another route has resumed it.';
const BROKEN_AFTER = INTERRUPTED_ANSWER.indexOf('dle,');

const IGNORED_AUDIO_PARAMS = ['prompt', 'temperature', 'timestamp_granularities'];
/** Supported fields, or those that need no support. */
const MEANINGFUL_FIELDS = new Set<PromptField>([
  'stop',
  'toolChoice',
  'parallelToolCalls',
  'responseFormat',
  'endUser',
]);
/** Names of the other fields in the chat dialect. */
const IGNORED_PARAMS = PROMPT_FIELDS.filter((field) => !MEANINGFUL_FIELDS.has(field)).flatMap(
  (field) => namesRead('chat', field),
);
/** The sandbox never waits for a network, so long answers must yield to other work themselves. */
const WORDS_PER_TURN = 500;
const VECTORS_PER_TURN = 100;

/**
 * A provider inside the gateway, for trying it out and for testing error handling. It answers
 * deterministically, counts one token per word, and uses the same routing, ledger and logs as any vendor.
 */
export class SandboxAdapter implements Upstream {
  readonly keyIs = 'unneeded';

  continuesPrefill(): boolean {
    return true;
  }

  droppedParams(request: CanonicalRequest): readonly string[] {
    if (request.dialect !== 'chat') return unsupportedFields(request, MEANINGFUL_FIELDS);
    return IGNORED_PARAMS.filter((param) => request.body.value[param] != null);
  }

  async *generate(call: UpstreamCall): AsyncGenerator<CanonicalEvent> {
    call.signal.noteSent?.();
    const fault = /^fault-(.+)$/.exec(call.upstreamModel)?.[1];
    if (fault !== undefined) yield* misbehave(fault, call);
    else yield* answer(call);
  }

  speak(call: WorkCall<SpeechRequest>): UpstreamWork<AudioPiece> {
    const isDropped = call.request.instructions !== undefined;
    return { droppedParams: isDropped ? ['instructions'] : [], events: speakTones(call) };
  }

  transcribe(call: WorkCall<TranscriptionRequest>): UpstreamWork<Transcript> {
    const { value } = call.request.body;
    const droppedParams = IGNORED_AUDIO_PARAMS.filter((param) => value[param] != null);
    return { droppedParams, events: transcribeTones(call) };
  }

  embed(call: WorkCall<EmbeddingRequest>): UpstreamWork<EmbeddingVectors> {
    return {
      droppedParams: droppedEmbeddingFields(call.request, ['dimensions', 'user']),
      events: embed(call),
    };
  }

  droppedMediaParams(request: MediaRequest): readonly string[] {
    const { kind, body } = request;
    if (kind === 'image') return unknownFields(body.value, SANDBOX_IMAGE_FIELDS);
    if (kind === 'video') return unknownFields(body.value, SANDBOX_VIDEO_FIELDS);
    return request.instructions === undefined ? [] : ['instructions'];
  }

  /** Ignores the input images and uses only the prompt. */
  editImages(call: WorkCall<ImageEditRequest>): UpstreamWork<EditedImages> {
    return { droppedParams: this.droppedMediaParams(call.request), events: redrawImages(call) };
  }

  async submitMedia(call: WorkCall<MediaRequest>): Promise<MediaProgress> {
    const { request } = call;
    switch (request.kind) {
      case 'image':
        return drawImages({ ...call, request });
      case 'video':
        return submitVideo({ ...call, request });
      case 'speech':
        return speakAtLength({ ...call, request }, Infinity, (piece) => this.speak(piece));
    }
  }

  async pollMedia(call: OperationCall): Promise<MediaProgress> {
    return pollVideo(call);
  }

  /** Does nothing: a video is generated when it is downloaded. */
  async cancelMedia(): Promise<void> {}

  /** Always succeeds, because the sandbox is part of the gateway. */
  async probe(): Promise<undefined> {}
}

async function* answer({
  request,
  upstreamModel,
  ownOutputLimit,
  signal,
}: UpstreamCall): AsyncGenerator<CanonicalEvent> {
  const prompt = request.prompt();
  yield { type: 'start' };

  let outputTokens = 0;
  for (let choice = 0; choice < request.choices; choice++) {
    const tool = toolToCall(prompt);
    if (tool) {
      const args = JSON.stringify(sampleOfSchema(tool.parameters ?? {}));
      yield { type: 'tool_call', choice, index: 0, id: `call_sandbox_${choice}`, name: tool.name };
      yield { type: 'tool_arguments', choice, index: 0, text: args };
      yield { type: 'finish', choice, reason: 'tool_calls' };
      outputTokens += countWords(args);
      continue;
    }
    const text = beforeStop(composeContinuation(prompt, upstreamModel), prompt.sampling.stop ?? []);
    const words = text.match(/\S+\s*/g) ?? [];
    const limit = request.maxOutputTokens ?? ownOutputLimit ?? words.length;
    for (const [index, word] of words.slice(0, limit).entries()) {
      if (index % WORDS_PER_TURN === WORDS_PER_TURN - 1) await nextTurn();
      if (signal.aborted) throw new CallAbortedError();
      yield { type: 'text', choice, text: word };
    }
    yield { type: 'finish', choice, reason: words.length > limit ? 'length' : 'stop' };
    outputTokens += Math.min(words.length, limit);
  }
  const inputTokens = prompt.messages.reduce(
    (sum, message) => sum + countWords(textOf(message)),
    0,
  );
  yield { type: 'usage', usage: { ...NO_USAGE, inputTokens, outputTokens } };
}

async function* embed({
  request: { input, dimensions = SANDBOX_DIMENSIONS },
  signal,
}: WorkCall<EmbeddingRequest>): AsyncGenerator<WorkEvent<EmbeddingVectors>> {
  signal.noteSent?.();
  if (dimensions > MAX_SANDBOX_DIMENSIONS) {
    throw new UpstreamError({
      failure: 'caller',
      message: `Embeddings of the sandbox have at most ${MAX_SANDBOX_DIMENSIONS} dimensions.`,
      param: 'dimensions',
    });
  }
  const items =
    input.type === 'texts'
      ? input.texts.map((text) => text.match(/\S+/g) ?? [])
      : input.tokens.map((tokens) => tokens.map(String));
  const vectors: number[][] = [];
  let inputTokens = 0;
  for (const words of items) {
    if (vectors.length % VECTORS_PER_TURN === VECTORS_PER_TURN - 1) await nextTurn();
    if (signal.aborted) throw new CallAbortedError();
    vectors.push(embedWords(words, dimensions));
    inputTokens += words.length;
  }
  yield { type: 'usage', usage: { ...NO_USAGE, inputTokens } };
  yield { type: 'output', output: vectors };
}

/** Returns the text to generate after the assistant's prefix. */
function composeContinuation(prompt: CanonicalPrompt, upstreamModel: string): string {
  const turns = prompt.messages.findLastIndex(({ role }) => role !== 'assistant') + 1;
  const said = prompt.messages.slice(turns).map(textOf).join('');
  const messages = said === '' ? prompt.messages : prompt.messages.slice(0, turns);
  const whole = [compose({ ...prompt, messages }, upstreamModel), INTERRUPTED_ANSWER];
  return whole.find((text) => text.startsWith(said))?.slice(said.length) ?? whole[0]!;
}

function compose(prompt: CanonicalPrompt, upstreamModel: string): string {
  const asked = textOf(prompt.messages.findLast((message) => message.role !== 'system'));
  const format = prompt.responseFormat;
  if (format?.type === 'json_schema') return JSON.stringify(sampleOfSchema(format.schema));
  if (format?.type === 'json_object') return JSON.stringify({ sandbox: true, echo: asked });
  if (upstreamModel !== 'words') return `Sandbox echo: ${asked}`;
  const count = Math.min(Number(/\d{1,6}/.exec(asked)?.[0] ?? DEFAULT_WORD_COUNT), 100_000);
  return Array.from({ length: count }, (_, index) => WORDS[index % WORDS.length]).join(' ');
}

/** Returns the tool to call: if the request requires one, or offers some after a user message. */
function toolToCall({ tools, toolChoice, messages }: CanonicalPrompt): ToolDefinition | undefined {
  if (toolChoice === 'none') return undefined;
  if (typeof toolChoice === 'object') return tools.find((tool) => tool.name === toolChoice.name);
  if (toolChoice === 'required' || messages.at(-1)?.role === 'user') return tools[0];
  return undefined;
}

function textOf(message: CanonicalMessage | undefined): string {
  return (message?.parts ?? [])
    .map((part) => {
      if (part.type === 'text') return part.text;
      if (part.type !== 'tool_result') return '';
      return part.parts.map((piece) => (piece.type === 'text' ? piece.text : '')).join('');
    })
    .join('');
}

function beforeStop(text: string, stops: readonly string[]): string {
  const ends = stops
    .filter((stop) => stop !== '')
    .map((stop) => text.indexOf(stop))
    .filter((index) => index !== -1);
  return ends.length === 0 ? text : text.slice(0, Math.min(...ends));
}

function countWords(text: string): number {
  return text.match(/\S+/g)?.length ?? 0;
}

async function* misbehave(fault: string, call: UpstreamCall): AsyncGenerator<CanonicalEvent> {
  if (fault !== 'cut') await simulateFault(fault, call);
  yield { type: 'start' };
  yield { type: 'text', choice: 0, text: INTERRUPTED_ANSWER.slice(0, BROKEN_AFTER) };
  throw new UpstreamError({ failure: 'cut', message: 'sandbox: stream cut' });
}

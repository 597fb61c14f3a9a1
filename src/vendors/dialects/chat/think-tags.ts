import type { CanonicalEvent } from '../../../canonical/canonical-event.js';
import { isJsonObject, type JsonObject } from '../../../platform/http/json-body.js';
import { SseFrameBuffer } from '../../../platform/http/sse-frame-buffer.js';
import { UpstreamError } from '../../upstream-error.js';
import { objectsOf, parseAnswerJson } from '../answer-json.js';
import { cutFrames, eventData, normalizeFrames } from '../event-text.js';
import type { EventStreamReader } from '../read-event-stream.js';

const OPEN = '<think>';
const CLOSE = '</think>';
/** More leading blanks than any model writes; beyond it, they count as text. */
const MAX_BLANKS = 256;
const MAX_FRAME_BYTES = 16 * 1024 * 1024;

interface SplitText {
  reasoning: string;
  text: string;
}

/** Splits the text of one choice that may start with reasoning between tags. */
class ThinkTagSplitter {
  private state: 'start' | 'thinking' | 'gap' | 'text' = 'start';
  private held = '';

  /** True when everything that follows is text. */
  get isSettled(): boolean {
    return this.state === 'text';
  }

  /** Splits the next piece. A tag may be cut anywhere, and is buffered until complete. */
  push(piece: string): SplitText {
    this.held += piece;
    let reasoning = '';
    if (this.state === 'start' && !this.begin()) return { reasoning, text: '' };
    if (this.state === 'thinking') reasoning = this.think();
    if (this.state === 'thinking') return { reasoning, text: '' };
    if (this.state === 'gap') {
      this.held = this.held.trimStart();
      if (this.held === '') return { reasoning, text: '' };
      this.state = 'text';
    }
    const text = this.held;
    this.held = '';
    return { reasoning, text };
  }

  /** Returns the buffered rest, which can no longer become a tag. */
  end(): SplitText {
    const { state, held } = this;
    this.state = 'text';
    this.held = '';
    if (state === 'thinking') return { reasoning: held, text: '' };
    return { reasoning: '', text: state === 'gap' ? '' : held };
  }

  /** @returns whether the start of the text has been determined */
  private begin(): boolean {
    const start = this.held.trimStart();
    if (start.startsWith(OPEN)) {
      this.state = 'thinking';
      this.held = start.slice(OPEN.length);
      return true;
    }
    if (OPEN.startsWith(start) && this.held.length <= MAX_BLANKS) return false;
    this.state = 'text';
    return true;
  }

  private think(): string {
    const { held } = this;
    const at = held.indexOf(CLOSE);
    if (at !== -1) {
      this.state = 'gap';
      this.held = held.slice(at + CLOSE.length);
      return held.slice(0, at);
    }
    let known = Math.max(0, held.length - CLOSE.length + 1);
    while (!CLOSE.startsWith(held.slice(known))) known++;
    this.held = held.slice(known);
    return held.slice(0, known);
  }
}

/** Moves the reasoning of a delta or message to the dialect's field. @returns whether there is any */
function splitMessage(message: JsonObject, splitter: ThinkTagSplitter, isEnd: boolean): boolean {
  const { content } = message;
  const given = typeof content === 'string' ? content : '';
  const split = splitter.push(given);
  // A server that extracts its reasoning itself leaves no tags.
  if (isEnd || message.reasoning_content != null || message.reasoning != null) {
    const rest = splitter.end();
    split.reasoning += rest.reasoning;
    split.text += rest.text;
  }
  if (split.text === given && split.reasoning === '') return false;
  message.content = split.text;
  if (split.reasoning !== '') message.reasoning_content = split.reasoning;
  return true;
}

/** Moves the reasoning of a whole chat answer out of its text; returns the same bytes without any. */
export function splitThinking(bytes: Buffer): Buffer {
  if (!bytes.includes(OPEN)) return bytes;
  let answer: unknown;
  try {
    answer = parseAnswerJson(bytes.toString('utf8'), 'an answer');
  } catch {
    // The next parser reports the error.
    return bytes;
  }
  if (!isJsonObject(answer)) return bytes;
  let isSplit = false;
  for (const { message } of objectsOf(answer.choices)) {
    if (isJsonObject(message) && splitMessage(message, new ThinkTagSplitter(), true))
      isSplit = true;
  }
  return isSplit ? Buffer.from(JSON.stringify(answer)) : bytes;
}

/**
 * Reads a stream whose text may start with reasoning between tags. Until the text proper begins, events
 * are re-encoded for the inner reader; afterwards it gets the bytes directly.
 */
export class ThinkTagReader implements EventStreamReader {
  private readonly frames = new SseFrameBuffer(MAX_FRAME_BYTES);
  private readonly splitters = new Map<unknown, ThinkTagSplitter>();
  private isSettled = false;
  private ownFailure: UpstreamError | undefined;

  /** @param choices the requested number */
  constructor(
    private readonly inner: EventStreamReader,
    private readonly choices: number,
  ) {}

  get failure(): UpstreamError | undefined {
    return this.ownFailure ?? this.inner.failure;
  }

  get isDone(): boolean {
    return this.inner.isDone === true;
  }

  get isWhole(): boolean {
    return this.inner.isWhole === true;
  }

  push(chunk: Buffer): CanonicalEvent[] {
    if (this.isSettled) return this.inner.push(chunk);
    try {
      const bytes = cutFrames(this.frames, chunk);
      if (!bytes) return [];
      const rewritten = Buffer.from(this.rewrite(bytes));
      if (!this.isSettled) return this.inner.push(rewritten);
      return this.inner.push(Buffer.concat([rewritten, this.frames.rest()]));
    } catch (error) {
      if (!(error instanceof UpstreamError)) throw error;
      this.ownFailure = error;
      return [];
    }
  }

  end(): CanonicalEvent[] {
    if (this.ownFailure) throw this.ownFailure;
    const rest = this.isSettled ? Buffer.alloc(0) : this.frames.rest();
    const events = rest.length > 0 ? this.inner.push(Buffer.from(this.rewrite(rest))) : [];
    return [...events, ...this.inner.end()];
  }

  private rewrite(bytes: Buffer): string {
    const frames = normalizeFrames(bytes.toString('utf8')).split('\n\n');
    const rewritten = frames.map((frame) => this.rewriteFrame(frame)).join('\n\n');
    const settled = [...this.splitters.values()].filter((splitter) => splitter.isSettled);
    this.isSettled = settled.length >= this.choices;
    return rewritten;
  }

  private rewriteFrame(frame: string): string {
    const data = eventData(frame);
    if (data === '' || data === '[DONE]') return frame;
    let chunk: unknown;
    try {
      chunk = parseAnswerJson(data, 'a chunk');
    } catch {
      return frame;
    }
    if (!isJsonObject(chunk)) return frame;
    let isSplit = false;
    for (const choice of objectsOf(chunk.choices)) if (this.splitChoice(choice)) isSplit = true;
    return isSplit ? `data: ${JSON.stringify(chunk)}` : frame;
  }

  private splitChoice(choice: JsonObject): boolean {
    const { index = 0, finish_reason: reason } = choice;
    const splitter = this.splitters.get(index) ?? new ThinkTagSplitter();
    this.splitters.set(index, splitter);
    const delta = isJsonObject(choice.delta) ? choice.delta : {};
    const isEnd = (typeof reason === 'string' && reason !== '') || Array.isArray(delta.tool_calls);
    if (!splitMessage(delta, splitter, isEnd)) return false;
    choice.delta = delta;
    return true;
  }
}

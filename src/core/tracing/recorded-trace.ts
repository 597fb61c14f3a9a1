import { createHash, type Hash } from 'node:crypto';
import type {
  RequestEnding,
  TriggeredGuardrail,
  BillableRequest,
  VendorHandle,
  RequestObserver,
} from '../../canonical/billable-request.js';
import type { RoutableRequest } from '../../canonical/work-request.js';
import type { KeyChain } from '../access/scope.js';
import type { TraceContext } from './trace-context.js';
import type { TraceFields } from './trace-fields.js';
import type { CanonicalEvent, WorkEvent } from '../../canonical/canonical-event.js';
import type { BillableRoute } from '../../canonical/billable-route.js';

/** Most of an answer to remember, in characters or bytes. */
const MAX_REMEMBERED = 256 * 1024;
/**
 * The same for sinks that keep whole answers. Chunks of a relayed stream are many times their text.
 */
const MAX_REMEMBERED_WHOLE = 2 * 1024 * 1024;

/** A note on media that is not remembered. */
export interface MediaNote {
  readonly mime_type: string;
  readonly bytes: number;
  /** Hexadecimal. */
  readonly sha256: string;
}

/** Bounds the memory that the answers of all running requests use together. */
export class AnswerMemory {
  /** In bytes, approximately. */
  taken = 0;
  /** Answers dropped for lack of memory. */
  leftOut = 0;

  constructor(private readonly most: number) {}

  /**
   * @returns whether there was room
   */
  take(bytes: number): boolean {
    if (this.taken + bytes > this.most) return false;
    this.taken += bytes;
    return true;
  }
}

/** Records what a trace needs from an answer's events. */
export class TracedAnswer {
  /** One for each choice, in the order of their ends. */
  readonly finishReasons: string[] = [];
  /** Content of the answer, if wanted. */
  readonly content: CanonicalEvent[] = [];
  /** Output of other work, if wanted. */
  output: unknown;
  /** The vendor's id of the answer, which the caller sees too. */
  id: string | undefined;
  hasRoute = false;
  isTruncated = false;
  private remembered = 0;

  private audio: { readonly contentType: string; readonly hash: Hash; bytes: number } | undefined;
  private pictures: readonly string[] = [];

  /**
   * @param keepsOutput whether an output is text
   * @param keepsWhole whether long answers and media notes are wanted
   * @param memory shared by all running requests
   */
  constructor(
    private readonly keepsContent: boolean,
    private readonly keepsOutput = false,
    private readonly keepsWhole = false,
    private readonly memory = new AnswerMemory(Infinity),
  ) {}

  /** Returns notes on media, if wanted. Call once, at the end. */
  takeMedia(): MediaNote[] {
    const notes = this.pictures.map((base64): MediaNote => {
      const bytes = Buffer.from(base64, 'base64');
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      return { mime_type: 'image', bytes: bytes.length, sha256 };
    });
    this.pictures = [];
    if (!this.audio) return notes;
    const { contentType, hash, bytes } = this.audio;
    this.audio = undefined;
    return [...notes, { mime_type: contentType, bytes, sha256: hash.digest('hex') }];
  }

  observe(event: CanonicalEvent | WorkEvent<unknown>): void {
    switch (event.type) {
      case 'route':
        this.hasRoute = true;
        break;
      case 'start':
        this.id ??= event.id;
        break;
      case 'finish':
        this.finishReasons.push(event.reason);
        if (this.keepsContent) this.content.push(event);
        break;
      case 'relay':
        if (event.finishReason !== undefined) this.finishReasons.push(event.finishReason);
        this.remember(event, event.bytes.length);
        break;
      case 'text':
      case 'reasoning':
      case 'refusal':
      case 'tool_arguments':
        this.remember(event, event.text.length);
        break;
      case 'tool_call':
        this.remember(event, event.name.length);
        break;
      case 'output':
        if (this.keepsContent && this.keepsOutput) this.output = event.output;
        else if (this.keepsWhole) this.noteMedia(event.output);
        break;
      case 'usage':
      case 'settled':
        break;
    }
  }

  private remember(event: CanonicalEvent, size: number): void {
    if (!this.keepsContent || this.isTruncated) return;
    // Every event has overhead, however little text.
    const weight = size + 64;
    // A whole relayed answer is a single chunk; cutting it would break the JSON.
    const most = this.keepsWhole ? MAX_REMEMBERED_WHOLE : MAX_REMEMBERED;
    if (this.remembered + weight > most && this.content.length > 0) {
      this.isTruncated = true;
    } else if (this.memory.take(weight)) {
      this.remembered += weight;
      this.content.push(event);
    } else {
      this.isTruncated = true;
      this.memory.leftOut++;
      this.forget();
    }
  }

  /** Releases the content. */
  forget(): void {
    this.content.length = 0;
    this.memory.taken -= this.remembered;
    this.remembered = 0;
  }

  private noteMedia(output: unknown): void {
    if (typeof output !== 'object' || output === null) return;
    if ('images' in output && Array.isArray(output.images)) {
      this.pictures = output.images.filter((image) => typeof image === 'string');
    }
    if (!('bytes' in output) || !Buffer.isBuffer(output.bytes)) return;
    const contentType = 'contentType' in output ? String(output.contentType) : '';
    this.audio ??= { contentType, hash: createHash('sha256'), bytes: 0 };
    this.audio.hash.update(output.bytes);
    this.audio.bytes += output.bytes.length;
  }
}

/** Everything that happened in one request. References the request's body, so do not retain it. */
export interface RecordedTrace {
  readonly tenantId: string;
  /** As of `TraceOrigin`. */
  readonly chain?: KeyChain | undefined;
  readonly requestId: string;
  readonly endpoint: string;
  readonly streamed: boolean;
  readonly context: TraceContext;
  readonly fields: TraceFields;
  readonly startedAt: Date;
  readonly endedAt: Date;
  readonly request: RoutableRequest;
  readonly attempts: readonly TracedAttempt[];
  readonly ending: RequestEnding;
  readonly guardrails: readonly TriggeredGuardrail[];
  /** `hit` or `miss`; undefined without the cache. */
  readonly cache: string | undefined;
  readonly answer: TracedAnswer;
  /** True when the tenant asked for the trace to be sent on. */
  readonly isBroadcast: boolean;
}

/** The outcome of one call. */
export interface TracedAttempt {
  readonly route: Pick<BillableRoute, 'model' | 'provider' | 'account' | 'scopeKeyId'>;
  readonly startedAt: Date;
  /** To the first content, or to the failure. */
  readonly durationMs: number;
  /**
   * `answered`, `uncovered` (never called: insufficient credits), `outpaced`, `aborted`, or a
   * failure.
   */
  readonly outcome: string;
  readonly status?: number | undefined;
  /** See `BillableAttempt`. */
  readonly isHedge?: boolean;
  readonly isUnbilled?: boolean;
}

/** The part of a planned request that tracing needs; implemented by routing's plan. */
export interface TracedRequest extends Omit<BillableRequest, keyof VendorHandle | 'attempts'> {
  readonly request: RoutableRequest;
  readonly attempts: readonly TracedAttempt[];
  observer?: RequestObserver | undefined;
}

/** The tenant and request of a trace. */
export interface TraceSubject {
  readonly tenantId: string;
  /** As of `TraceOrigin`. */
  readonly chain?: KeyChain | undefined;
  /** True when the request asked for its trace to be sent to the tenant's destinations. */
  readonly isBroadcast: boolean;
  /** The tenant's content logging; null for the service's setting. */
  readonly contentLog: boolean | null;
  /** Returns the trace context; the same on each call. */
  readonly context: () => TraceContext;
}

/** How much a sink wants: nothing, everything except texts, or everything. */
export type TraceInterest = 'none' | 'figures' | 'content';

/** Receives the traces of finished requests. Methods must not throw, wait or take long. */
export interface TraceSink {
  /** True when it wants long answers in full, and notes on media. */
  readonly keepsWhole?: boolean;
  /** Called at the start of a request. */
  interestIn(subject: TraceSubject): TraceInterest;
  /** Called when the answer has been sent. */
  accept(trace: RecordedTrace): void;
}

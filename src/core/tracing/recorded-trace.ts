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

/** More of an answer than this is not remembered, in characters or bytes. */
const MAX_REMEMBERED = 256 * 1024;
/** The same for who keeps whole answers. Pieces of a relayed stream are many times their text. */
const MAX_REMEMBERED_WHOLE = 2 * 1024 * 1024;

/** Bytes of an answer that are not remembered. */
export interface MediaNote {
  readonly mime_type: string;
  readonly bytes: number;
  /** Hex. */
  readonly sha256: string;
}

/** What the answers of all running requests may take together, so that many long ones at once fill no memory. */
export class AnswerMemory {
  /** Bytes, roughly. */
  taken = 0;
  /** Answers that did not fit and were left out. */
  leftOut = 0;

  constructor(private readonly most: number) {}

  /** @returns whether there was room */
  take(bytes: number): boolean {
    if (this.taken + bytes > this.most) return false;
    this.taken += bytes;
    return true;
  }
}

/** Sees an answer's events, and remembers what a trace tells of them. */
export class TracedAnswer {
  /** One for each choice, in the order in which they ended. */
  readonly finishReasons: string[] = [];
  /** Content of the answer, where it is wanted. */
  readonly content: CanonicalEvent[] = [];
  /** The output of work of which it is wanted. */
  output: unknown;
  /** The vendor's id of the answer, which the caller sees too. */
  id: string | undefined;
  hasRoute = false;
  isTruncated = false;
  private remembered = 0;

  private audio: { readonly contentType: string; readonly hash: Hash; bytes: number } | undefined;
  private pictures: readonly string[] = [];

  /**
   * @param keepsOutput whether the output, if there is one, is a text
   * @param keepsWhole whether long answers are wanted, and what there is to say of media
   * @param memory what is left for it and all others
   */
  constructor(
    private readonly keepsContent: boolean,
    private readonly keepsOutput = false,
    private readonly keepsWhole = false,
    private readonly memory = new AnswerMemory(Infinity),
  ) {}

  /** What was made beside text, where that is wanted. To be asked once, when nothing follows. */
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
    // An event has a size of its own, however little it says.
    const weight = size + 64;
    // A whole answer that is relayed comes as one piece, of which a cut one would be no JSON.
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

  /** Lets go of what was said. */
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

/** All that happened in one request. It holds on to the request's body: not to be kept. */
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
  /** `hit` or `miss`; undefined where there is no cache to ask. */
  readonly cache: string | undefined;
  readonly answer: TracedAnswer;
  /** Whether the tenant asked for its traces to be sent on. */
  readonly isBroadcast: boolean;
}

/** What became of one route. */
export interface TracedAttempt {
  readonly route: Pick<BillableRoute, 'model' | 'provider' | 'account' | 'scopeKeyId'>;
  readonly startedAt: Date;
  /** To the first content, or to the failure. */
  readonly durationMs: number;
  /** `answered`, `uncovered` (never called: the credits did not reach), `outpaced`, `aborted`, or a failure. */
  readonly outcome: string;
  readonly status?: number | undefined;
  /** As of `BillableAttempt`. */
  readonly isHedge?: boolean;
  readonly isSpare?: boolean;
}

/** A planned request, as far as tracing is concerned; routing's plan is one. */
export interface TracedRequest extends Omit<BillableRequest, keyof VendorHandle | 'attempts'> {
  readonly request: RoutableRequest;
  readonly attempts: readonly TracedAttempt[];
  observer?: RequestObserver | undefined;
}

/** Who asks for a trace. */
export interface TraceSubject {
  readonly tenantId: string;
  /** As of `TraceOrigin`. */
  readonly chain?: KeyChain | undefined;
  /** Whether the request asked for its trace to be sent to the tenant's destinations. */
  readonly isBroadcast: boolean;
  /** Whether its tenant wants what is said in it to be kept; null: as the service's setting says. */
  readonly contentLog: boolean | null;
  /** Where it stands; the same at each call. */
  readonly context: () => TraceContext;
}

/** How much a sink wants to know: nothing, all but the texts, or the texts as well. */
export type TraceInterest = 'none' | 'figures' | 'content';

/** Takes the traces of finished requests. Neither method may throw, wait or take long. */
export interface TraceSink {
  /** Whether it wants long answers whole, and what there is to say of media. */
  readonly keepsWhole?: boolean;
  /** Asked as a request begins. */
  interestIn(subject: TraceSubject): TraceInterest;
  /** Called when the answer has left. */
  accept(trace: RecordedTrace): void;
}

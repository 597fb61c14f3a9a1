import type { CancelSignal } from '../canonical/cancel-signal.js';
import type { CanonicalEvent, WorkEvent } from '../canonical/canonical-event.js';
import type { CanonicalRequest, Dialect } from '../canonical/canonical-request.js';
import type {
  RoutableRequest,
  MediaRequest,
  Transcript,
  TranscriptionRequest,
  AudioPiece,
  SpeechRequest,
  EmbeddingRequest,
  EmbeddingVectors,
  EditedImages,
  ImageEditRequest,
} from '../canonical/work-request.js';
import type { MediaProgress } from './media-work.js';

/** Time limits of one call, in milliseconds. */
export interface CallLimits {
  /** From the call to the vendor's first byte. */
  firstByteMs: number;
  /** Between two pieces of an answer. */
  idleMs: number;
  /** From the call to the answer's end. */
  requestMs: number;
}

/** One call to a vendor: the request, and what this route makes of it. */
export interface WorkCall<Request extends RoutableRequest> {
  readonly request: Request;
  /** The alias this route answers for; what the answer must call its model. */
  readonly alias: string;
  /** The vendor's own model id. */
  readonly upstreamModel: string;
  readonly limits: CallLimits;
  /** Aborted when nobody waits for the answer any more; the vendor's connection is closed at once. */
  readonly signal: CancelSignal;
}

/** A call that generates text. */
export interface UpstreamCall extends WorkCall<CanonicalRequest> {
  /** Output tokens of one choice that credits were set aside for; the limit where a vendor needs one. */
  readonly maxOutputTokens: number;
  /**
   * The gateway's own limit on one choice, which every vendor is told: there where the caller named
   * none and the credits do not reach for the model's longest answer, or where `max_cost` pays for less
   * than the caller's own limit. That is the request's `maxOutputTokens` then, but not its body's.
   */
  readonly ownOutputLimit?: number | undefined;
  /** What of the request's `vendorHeaders` may go out over this route. */
  readonly vendorHeaders?: Readonly<Record<string, string>> | undefined;
}

/** How a vendor answers a call that is no text generation. */
export interface UpstreamWork<Output> {
  /** As `Upstream.droppedParams`, for this request on this route. */
  readonly droppedParams: readonly string[];
  /**
   * Nothing is sent before the first pull; leaving the iteration early closes the connection. Ends
   * normally only after a complete answer. Without a `usage` event the request's estimate counts.
   */
  readonly events: AsyncIterable<WorkEvent<Output>>;
}

/** What may decide, besides the request, which of its fields are left out. */
export type DroppingRoute = Pick<
  UpstreamCall,
  'upstreamModel' | 'maxOutputTokens' | 'ownOutputLimit'
>;

/**
 * A vendor, as routing sees it. One instance per configured provider.
 */
export interface Upstream {
  /** Whether the vendor, asked in this dialect, is asked for a request's `webSearch` as well. */
  runsWebSearch?(dialect: Dialect, upstreamModel: string): boolean;

  /** Whether the vendor, asked in this dialect, gets what names a service tier or a region as the caller wrote it. */
  passesTier?(dialect: Dialect, upstreamModel: string): boolean;

  /** Where its endpoint is, where that is a matter of the account; prices may depend on it. */
  readonly region?: string | undefined;

  /** Whether all of a call's `vendorHeaders` go out with it; others may know a few of them. */
  readonly passesVendorHeaders?: boolean;

  /** Whether reasoning is signed at its end, and refused in the next turn without that. */
  readonly signsReasoning?: boolean;

  /**
   * Whether the model goes on from where the conversation's last turn stops, when that is the
   * assistant's; others begin a new one.
   */
  continuesPrefill?(request: CanonicalRequest, upstreamModel: string): boolean;

  /**
   * Request fields that this vendor's dialect, or the route's model, has no place for, for
   * `X-Gateway-Dropped-Params`: in words fit for a header, whatever the request holds.
   */
  droppedParams(request: CanonicalRequest, route: DroppingRoute): readonly string[];

  /**
   * Calls the vendor and yields its answer. Nothing is sent before the first pull; leaving the
   * iteration early closes the connection. Ends normally only after a complete answer.
   *
   * @throws UpstreamError for every failure, before or in the middle of the answer
   */
  generate(call: UpstreamCall): AsyncIterable<CanonicalEvent>;

  /**
   * How many input tokens the request has on this route, by the vendor's own count; undefined where
   * it counts no such requests.
   *
   * @throws UpstreamError when the vendor does not say
   */
  countTokens?(call: UpstreamCall): Promise<number | undefined>;

  /** Vectors of all items, in one output. Absent where the vendor has none; likewise the next ones. */
  embed?(call: WorkCall<EmbeddingRequest>): UpstreamWork<EmbeddingVectors>;

  /** Spoken text, in pieces as they come. */
  speak?(call: WorkCall<SpeechRequest>): UpstreamWork<AudioPiece>;

  /** A transcript, in one output. */
  transcribe?(call: WorkCall<TranscriptionRequest>): UpstreamWork<Transcript>;

  /** Pictures made of pictures, in one output. */
  editImages?(call: WorkCall<ImageEditRequest>): UpstreamWork<EditedImages>;

  /**
   * Request fields that the route has no place for when it makes media; as `droppedParams`.
   * Present with `submitMedia`.
   */
  droppedMediaParams?(request: MediaRequest, upstreamModel: string): readonly string[];

  /**
   * Asks for media, once: it may cost money as soon as it is sent, so nothing here sends it again.
   * Vendors that answer at once give the files themselves.
   *
   * @throws UpstreamError whose `accepted` says whether the vendor may work on it all the same;
   * MediaFailedError when it worked and nothing came of it
   */
  submitMedia?(call: WorkCall<MediaRequest>): Promise<MediaProgress>;

  /**
   * Asks how accepted work stands.
   *
   * @throws MediaFailedError when it has failed for good; UpstreamError when the question failed,
   * which says nothing about the work
   */
  pollMedia?(call: OperationCall): Promise<MediaProgress>;

  /** Stops accepted work, where the vendor can. @throws UpstreamError when it did not answer */
  cancelMedia?(call: OperationCall): Promise<void>;

  /**
   * One cheap authenticated call that shows whether the vendor answers; its duration is the latency.
   *
   * @throws UpstreamError when it does not answer, or not as it should where its answer is read
   */
  probe(call: ProbeCall): Promise<Probed>;

  /**
   * What a good answer to the probe says of the key, where that is not that it is taken: nothing, because the
   * vendor has no free call that checks it, or because there is no key at all.
   */
  readonly keyIs?: 'unproven' | 'unneeded';

  /**
   * The models that a server has at the moment, which are in no catalogue. Absent at vendors, whose
   * models are.
   *
   * @throws UpstreamError when it does not say
   */
  servedModels?(call: ProbeCall): Promise<readonly ServedModel[]>;
}

/** A model that a server of the operator's own has. */
export interface ServedModel {
  /** As the server calls it. */
  readonly id: string;
  readonly kind: 'chat' | 'embedding';
  /** In tokens; absent where the server does not say. */
  readonly contextLength?: number;
}

/**
 * The ids of the models that a vendor lists, as routes name them, or only how many there are where those are
 * other names; undefined unless that was asked for and it lists them.
 */
export type Probed = readonly string[] | number | undefined;

export interface ProbeCall {
  readonly limits: CallLimits;
  readonly signal: CancelSignal;
  /** Has the answer read, which costs more than to see that there is one. */
  readonly readsAnswer?: boolean;
}

/** A question about work that a vendor has accepted. */
export interface OperationCall extends ProbeCall {
  readonly operation: string;
  /** The vendor's own model id. */
  readonly upstreamModel: string;
}

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

/** One call to a vendor: the request and its parameters on this route. */
export interface WorkCall<Request extends RoutableRequest> {
  readonly request: Request;
  /** The alias that this route serves; the answer must use it as its model. */
  readonly alias: string;
  /** The vendor's own model id. */
  readonly upstreamModel: string;
  readonly limits: CallLimits;
  /** Aborted when the answer is no longer needed; the vendor's connection is closed at once. */
  readonly signal: CancelSignal;
}

/** A call that generates text. */
export interface UpstreamCall extends WorkCall<CanonicalRequest> {
  /** Output tokens per choice that credits are reserved for; sent as the limit to vendors that require one. */
  readonly maxOutputTokens: number;
  /**
   * The gateway's own limit per choice, sent to every vendor. Set when the caller named no limit and the
   * credits do not cover the model's longest answer, or when `max_cost` pays for less than the caller's
   * limit. It then equals the request's `maxOutputTokens`, but not the limit in its body.
   */
  readonly ownOutputLimit?: number | undefined;
  /** The part of the request's `vendorHeaders` that may be sent over this route. */
  readonly vendorHeaders?: Readonly<Record<string, string>> | undefined;
}

/** A vendor's answer to a call other than text generation. */
export interface UpstreamWork<Output> {
  /** As `Upstream.droppedParams`, for this request on this route. */
  readonly droppedParams: readonly string[];
  /**
   * Sends nothing before the first pull; leaving the iteration early closes the connection. Ends
   * normally only after a complete answer. Without a `usage` event the request's estimate counts.
   */
  readonly events: AsyncIterable<WorkEvent<Output>>;
}

/** The route properties that, besides the request, decide which fields are dropped. */
export type DroppingRoute = Pick<
  UpstreamCall,
  'upstreamModel' | 'maxOutputTokens' | 'ownOutputLimit'
>;

/** A vendor, as routing sees it. One instance per configured provider. */
export interface Upstream {
  /** Returns whether the vendor runs a request's `webSearch` when called in this dialect. */
  runsWebSearch?(dialect: Dialect, upstreamModel: string): boolean;

  /** Returns whether the vendor gets the caller's service tier or region field unchanged in this dialect. */
  passesTier?(dialect: Dialect, upstreamModel: string): boolean;

  /** The endpoint's region, when it depends on the account; prices may depend on it. */
  readonly region?: string | undefined;

  /** True when all of a call's `vendorHeaders` are sent. Other vendors may pass on a few. */
  readonly passesVendorHeaders?: boolean;

  /** True when reasoning ends with a signature, without which the next turn is rejected. */
  readonly signsReasoning?: boolean;

  /**
   * Returns whether the model continues a last message that is the assistant's. Other models start a new
   * one.
   */
  continuesPrefill?(request: CanonicalRequest, upstreamModel: string): boolean;

  /**
   * Request fields that this vendor's dialect, or the route's model, does not support, for
   * `X-Gateway-Dropped-Params`. Always valid in a header, whatever the request contains.
   */
  droppedParams(request: CanonicalRequest, route: DroppingRoute): readonly string[];

  /**
   * Calls the vendor and yields its answer. Sends nothing before the first pull; leaving the iteration
   * early closes the connection. Ends normally only after a complete answer.
   *
   * @throws UpstreamError for every failure, before or during the answer
   */
  generate(call: UpstreamCall): AsyncIterable<CanonicalEvent>;

  /**
   * Returns the vendor's own count of the request's input tokens on this route; undefined when it cannot
   * count such requests.
   *
   * @throws UpstreamError when the count fails
   */
  countTokens?(call: UpstreamCall): Promise<number | undefined>;

  /** Embeds all items, in one output. Undefined when unsupported, like the following ones. */
  embed?(call: WorkCall<EmbeddingRequest>): UpstreamWork<EmbeddingVectors>;

  /** Speaks text, streaming the audio. */
  speak?(call: WorkCall<SpeechRequest>): UpstreamWork<AudioPiece>;

  /** Transcribes audio, in one output. */
  transcribe?(call: WorkCall<TranscriptionRequest>): UpstreamWork<Transcript>;

  /** Generates images from images, in one output. */
  editImages?(call: WorkCall<ImageEditRequest>): UpstreamWork<EditedImages>;

  /**
   * Request fields that the route does not support for media, as in `droppedParams`. Present together
   * with `submitMedia`.
   */
  droppedMediaParams?(request: MediaRequest, upstreamModel: string): readonly string[];

  /**
   * Submits a media request once. It may cost money as soon as it is sent, so it is never retried.
   * Synchronous vendors return the files themselves.
   *
   * @throws UpstreamError whose `accepted` says whether the vendor may be working on it anyway;
   * MediaFailedError when the work itself failed
   */
  submitMedia?(call: WorkCall<MediaRequest>): Promise<MediaProgress>;

  /**
   * Polls accepted work.
   *
   * @throws MediaFailedError when it has failed for good; UpstreamError when polling failed, which says
   * nothing about the work
   */
  pollMedia?(call: OperationCall): Promise<MediaProgress>;

  /** Cancels accepted work, if the vendor can. @throws UpstreamError when the call fails */
  cancelMedia?(call: OperationCall): Promise<void>;

  /**
   * Makes one cheap authenticated call to check that the vendor answers; its duration is the latency.
   *
   * @throws UpstreamError when it does not answer, or answers unexpectedly with `readsAnswer`
   */
  probe(call: ProbeCall): Promise<Probed>;

  /**
   * Set when a successful probe does not prove the key: the vendor has no free call that checks it
   * (`unproven`), or there is no key (`unneeded`).
   */
  readonly keyIs?: 'unproven' | 'unneeded';

  /**
   * Lists the models that a server currently serves, which no catalogue has. Undefined for vendors, whose
   * models are in the catalogue.
   *
   * @throws UpstreamError when the call fails
   */
  servedModels?(call: ProbeCall): Promise<readonly ServedModel[]>;
}

/** A model on a self-hosted server. */
export interface ServedModel {
  /** The server's name for it. */
  readonly id: string;
  readonly kind: 'chat' | 'embedding';
  /** In tokens; undefined when the server does not report it. */
  readonly contextLength?: number;
}

/**
 * Ids of the models that a vendor lists, as routes name them, or only their number when the ids differ.
 * Undefined unless requested and listed.
 */
export type Probed = readonly string[] | number | undefined;

export interface ProbeCall {
  readonly limits: CallLimits;
  readonly signal: CancelSignal;
  /** Parses the answer instead of only checking that there is one; costs more. */
  readonly readsAnswer?: boolean;
}

/** A poll or cancel call for work that a vendor has accepted. */
export interface OperationCall extends ProbeCall {
  readonly operation: string;
  /** The vendor's own model id. */
  readonly upstreamModel: string;
}

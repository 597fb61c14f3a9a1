import type { CanonicalRequest, Dialect } from '../../canonical/canonical-request.js';
import type { ClassifyError } from '../dialects/read-failed-answer.js';
import type { AnswerEvents } from '../dialects/vendor-answer.js';
import type { UpstreamResponse } from '../transport/upstream-response.js';
import type { DroppingRoute, UpstreamCall } from '../upstream.js';

/** A publisher of models on Vertex, and the dialect that its models speak. */
export interface VertexPublisher {
  /** The path's segment after `publishers/`. */
  readonly name: string;
  /** The path's end after the model and its colon, query included. */
  method(stream: boolean): string;
  /** Whether requests of this dialect are passed on as they came, rather than translated. */
  relays(dialect: Dialect): boolean;
  droppedParams(request: CanonicalRequest, route: DroppingRoute): readonly string[];
  /** @throws UpstreamError `caller` or `unsupported` for a request that it cannot spell */
  prepare(call: UpstreamCall): PreparedCall;
  readonly classifyError: ClassifyError;
}

/** A call in its publisher's dialect: what to send, and how to read what comes back. */
export interface PreparedCall {
  body: Buffer;
  /**
   * The events of an answer with status 200. `describe` says what to throw in place of a stream's
   * failure. @throws UpstreamError for an answer that is none
   */
  read: (
    response: UpstreamResponse,
    describe: (failure: unknown) => unknown,
  ) => Promise<AnswerEvents>;
}

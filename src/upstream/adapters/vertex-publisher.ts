import type { IncomingHttpHeaders } from 'node:http';
import type { CanonicalEvent } from '../../canonical/canonical-event.js';
import type { CanonicalRequest } from '../../canonical/canonical-request.js';
import type { UpstreamError } from '../upstream-error.js';
import type { UpstreamCall } from '../upstream.js';

/** A publisher of models on Vertex, and the dialect that its models speak. */
export interface VertexPublisher {
  /** The path's segment after `publishers/`. */
  readonly name: string;
  /** The path's end after the model and its colon, query included. */
  method(stream: boolean): string;
  droppedParams(request: CanonicalRequest, model: string): readonly string[];
  /** @throws UpstreamError `caller` or `unsupported` for a request that it cannot spell */
  encode(call: UpstreamCall): Buffer;
  /** @throws UpstreamError for an answer that is none */
  decodeWhole(bytes: Buffer, call: UpstreamCall): CanonicalEvent[];
  decodeStream(call: UpstreamCall): StreamDecoder;
  classifyError(status: number, headers: IncomingHttpHeaders, body: unknown): UpstreamError;
}

/** Reads one stream. */
export interface StreamDecoder {
  push(chunk: Buffer): CanonicalEvent[];
  /** @throws UpstreamError when the answer is not complete, or the `failure` so far */
  end(): CanonicalEvent[];
  /** To be thrown after the events before it. */
  readonly failure: UpstreamError | undefined;
  /** True when nothing of interest follows; undefined where only the connection's end tells. */
  readonly isDone?: boolean;
}

import type { JsonBody } from '../platform/http/json-body.js';
import type { WorkRequest } from './work-request.js';

/** Texts, or tokens of a vendor's own vocabulary, to be turned into vectors. */
export interface EmbeddingRequest extends WorkRequest {
  readonly kind: 'embedding';
  /** The body as received, for upstreams that speak the caller's dialect. */
  readonly body: JsonBody;
  readonly input: EmbeddingInput;
  readonly encoding: 'float' | 'base64';
  readonly dimensions: number | undefined;
  readonly endUser: string | undefined;
}

/** The items in order; from 1 to 2,048 of them. */
export type EmbeddingInput =
  | { readonly type: 'texts'; readonly texts: readonly string[] }
  | { readonly type: 'tokens'; readonly tokens: readonly (readonly number[])[] };

/** The vectors in the order of the items: numbers, or base64 of little-endian 32-bit floats. */
export type EmbeddingVectors = readonly (readonly number[] | string)[];

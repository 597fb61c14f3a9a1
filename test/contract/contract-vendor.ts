import type { Dialect } from '../../src/canonical/canonical-request.js';
import type { ProviderType } from '../../src/platform/config/app-config.js';
import type { Upstream } from '../../src/vendors/upstream.js';
import type { AdapterTools } from '../../src/vendors/vendor.js';
import type { RecordedCall } from './scripted-server.js';

/**
 * A vendor as the contract suite sees it: how its answers are spelled on the wire. One file per
 * vendor implements this with pure functions; a scripted server sends what they return, and the
 * vendor's own SDK reads it in the proof that the spelling is right.
 */
export interface ContractVendor {
  /** The row's name in the suite's output. */
  name: string;
  /** The vendor's own model id used in calls. */
  upstreamModel: string;
  /** The adapter, pointed at a scripted server. */
  createAdapter(origin: string, tools: AdapterTools): Upstream;
  /** A whole answer, status 200. */
  whole(answer: ScriptedAnswer): Reply;
  /** A stream's pieces: one event (or binary message) each. */
  stream(answer: ScriptedAnswer): Reply & { pieces: Buffer[] };
  /** A failed answer in the vendor's own shape. */
  failure(kind: FailureKind): Reply;
  /** A stream that has begun with `text` and then reports a failure in-band, where the vendor can. */
  streamFailure?(text: string): Reply;
  /** What the vendor was asked, in terms that are the same for all vendors. */
  readRequest(call: RecordedCall): ReadRequest;
  /**
   * What the suite's requests claim to be written in: a dialect that the adapter translates rather
   * than passes through. By default `chat`.
   */
  callerDialect?: Dialect;
  /** Whether the vendor says how many of the output tokens were reasoning. */
  countsReasoning?: boolean;
  /** What an entry of the providers file says of it, for tests of the whole gateway. */
  provider?: {
    adapter: string;
    type: ProviderType;
    /** What follows the server's origin in `base_url`. */
    basePath?: string;
    settings?: Record<string, string>;
  };
}

/** An answer in terms that every vendor can spell. */
export interface ScriptedAnswer {
  text?: string;
  /** Several pieces of text in a stream; `text` is their sum. */
  reasoning?: {
    text: string;
    signature?: string;
    /** The thought itself, encrypted, from vendors that may give it in place of its text. */
    encrypted?: string;
  };
  /** With the signature on a call, from vendors that signature calls. */
  toolCalls?: { id: string; name: string; arguments: string; signature?: string }[];
  finish: 'stop' | 'length' | 'tool_calls' | 'content_filter';
  usage: {
    /** All input tokens, cached ones included. */
    input: number;
    /** All output tokens, reasoning included. */
    output: number;
    cacheRead?: number;
    reasoning?: number;
  };
  /** Leaves the finish reason out of the answer: it breaks off. */
  withoutFinish?: boolean;
}

export type FailureKind =
  | 'rate_limited'
  | 'overloaded'
  | 'server'
  | 'bad_request'
  | 'context_length'
  | 'bad_key';

export interface Reply {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
}

/** A request as any vendor gets it, read back from its own spelling. */
export interface ReadRequest {
  system: string;
  /** Roles in order, with texts and tool parts. */
  turns: {
    role: 'user' | 'assistant';
    text: string;
    toolCalls: { name: string; arguments: unknown }[];
    toolResults: string[];
  }[];
  tools: string[];
  toolChoice: 'auto' | 'none' | 'required' | { name: string } | undefined;
  maxOutputTokens: number | undefined;
  temperature: number | undefined;
  stop: string[];
  stream: boolean;
}

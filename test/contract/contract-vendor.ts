import type { Dialect } from '../../src/canonical/canonical-request.js';
import type { ProviderType } from '../../src/platform/config/app-config.js';
import type { Upstream } from '../../src/vendors/upstream.js';
import type { AdapterTools } from '../../src/vendors/vendor.js';
import type { RecordedCall } from './scripted-server.js';

/**
 * A vendor's wire format for the contract suite. One file per vendor implements it with pure functions. A
 * scripted server sends their results, and the vendor's own SDK reads them to prove the format right.
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
  /** A stream that starts with `text` and then reports a failure in-band, if the vendor can. */
  streamFailure?(text: string): Reply;
  /** Parses the vendor's request into terms shared by all vendors. */
  readRequest(call: RecordedCall): ReadRequest;
  /** The dialect that the suite's requests claim, which the adapter must translate; by default `chat`. */
  callerDialect?: Dialect;
  /** True when the vendor reports how many output tokens were reasoning. */
  countsReasoning?: boolean;
  /** Its entry in the providers file, for tests of the whole gateway. */
  provider?: {
    adapter: string;
    type: ProviderType;
    /** The path in `base_url` after the server's origin. */
    basePath?: string;
    settings?: Record<string, string>;
  };
}

/** An answer in terms that every vendor can encode. */
export interface ScriptedAnswer {
  text?: string;
  /** Several pieces of text in a stream; `text` is their sum. */
  reasoning?: {
    text: string;
    signature?: string;
    /** The encrypted reasoning, from vendors that may send it instead of text. */
    encrypted?: string;
  };
  /** Includes a signature for vendors that sign calls. */
  toolCalls?: { id: string; name: string; arguments: string; signature?: string }[];
  finish: 'stop' | 'length' | 'tool_calls' | 'content_filter';
  usage: {
    /** All input tokens, including cached ones. */
    input: number;
    /** All output tokens, including reasoning. */
    output: number;
    cacheRead?: number;
    reasoning?: number;
  };
  /** Omits the finish reason, so that the answer is incomplete. */
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

/** A request parsed from a vendor's wire format. */
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

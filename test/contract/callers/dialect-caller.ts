import type { ScriptedAnswer } from '../contract-vendor.js';

/** The caller's side of a dialect: its vendor's official client, calling the gateway. */
export interface DialectCaller {
  readonly name: 'chat' | 'messages' | 'responses';
  /** The dialect's names of finish reasons. */
  readonly ends: Record<ScriptedAnswer['finish'], string>;
  /** Asks the suite's first question. */
  open(model: string, stream: boolean): Promise<CallerAnswer>;
  /**
   * Sends the results of the tools that the last answer calls, in the dialect's own format.
   *
   * @param answers all answers so far; stateless dialects send the results of earlier ones again
   */
  answerTools(
    model: string,
    stream: boolean,
    answers: readonly CallerAnswer[],
  ): Promise<CallerAnswer>;
  /** Asks one short question. @throws the client's own errors */
  ask(model: string, stream: boolean, extra?: object): Promise<CallerAnswer>;
  /** Asks the same as a stream and reads event by event until it ends or fails. */
  watch(model: string, extra?: object): Promise<WatchedStream>;
  /** Returns the last request's id from the response headers. */
  lastRequestId(): string | null;
}

/** A stream after reading. */
export interface WatchedStream {
  text: string;
  /** Its event types, without repetitions; chat chunks have none. */
  types: string[];
  /** The failure that ended it, if any. */
  failure: { type: string | null | undefined; message: string } | undefined;
}

/** An answer as the client parsed it. */
export interface CallerAnswer {
  text: string;
  toolCalls: { id: string; name: string; arguments: unknown }[];
  /** In the dialect's terms. */
  end: string | null | undefined;
  usage: { input: number; output: number; cacheRead: number };
  model: string;
  /** The head of the gateway's answer. */
  headers: Headers;
  /** The client's own object, for the next turn. */
  raw: unknown;
}

/** Records the headers of the last answer, which the clients' streaming helpers do not expose. */
export class HeaderRecorder {
  headers = new Headers();

  readonly lastRequestId = (): string | null => this.headers.get('x-request-id');

  readonly fetch = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const response = await fetch(input, init);
    this.headers = response.headers;
    return response;
  };
}

/** Reads a stream to its end, or until its reader throws. */
export async function watchStream<Event>(
  opened: PromiseLike<AsyncIterable<Event>>,
  read: (event: Event, watched: WatchedStream) => void,
): Promise<WatchedStream> {
  const watched: WatchedStream = { text: '', types: [], failure: undefined };
  const stream = await opened;
  try {
    for await (const event of stream) read(event, watched);
  } catch (error) {
    const { type, message } = error as { type?: string | null; message: string };
    // The connection is cut after an event that reported the failure.
    watched.failure ??= { type, message };
  }
  return watched;
}

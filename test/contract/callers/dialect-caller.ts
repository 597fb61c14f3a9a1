import type { ScriptedAnswer } from '../contract-vendor.js';

/** The caller's side of a dialect: its vendor's official client, before the gateway. */
export interface DialectCaller {
  readonly name: 'chat' | 'messages' | 'responses';
  /** How the dialect says why an answer ended. */
  readonly ends: Record<ScriptedAnswer['finish'], string>;
  /** Asks the suite's first question. */
  open(model: string, stream: boolean): Promise<CallerAnswer>;
  /**
   * Gives the results of the tools that the last answer calls, in the dialect's own way.
   *
   * @param answers all answers so far; the results of earlier ones are told again where it is stateless
   */
  goOn(model: string, stream: boolean, answers: readonly CallerAnswer[]): Promise<CallerAnswer>;
  /** Asks one short question. @throws the client's own errors */
  ask(model: string, stream: boolean, extra?: object): Promise<CallerAnswer>;
  /** Asks the same for a stream, and reads it event by event as far as it goes. */
  watch(model: string, extra?: object): Promise<WatchedStream>;
  /** The id of the last request, which its answer's head names. */
  lastRequestId(): string | null;
}

/** A stream as it was read. */
export interface WatchedStream {
  text: string;
  /** The types of its events, repetitions left out; chat chunks have none. */
  types: string[];
  /** What it ended with, where that was a failure. */
  failure: { type: string | null | undefined; message: string } | undefined;
}

/** What the client made of an answer. */
export interface CallerAnswer {
  text: string;
  toolCalls: { id: string; name: string; arguments: unknown }[];
  /** In the dialect's words. */
  end: string | null | undefined;
  usage: { input: number; output: number; cacheRead: number };
  model: string;
  /** The head of the gateway's answer. */
  headers: Headers;
  /** The client's own object, to go on from. */
  raw: unknown;
}

/** Notes the head of the last answer, which the clients' helpers for streams do not show. */
export class HeaderRecorder {
  headers = new Headers();

  readonly lastRequestId = (): string | null => this.headers.get('x-request-id');

  readonly fetch = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const response = await fetch(input, init);
    this.headers = response.headers;
    return response;
  };
}

/** Reads a stream to its end, or to the error that its reader throws. */
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
    // Behind an event that told of the failure the connection is cut.
    watched.failure ??= { type, message };
  }
  return watched;
}

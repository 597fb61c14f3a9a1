import type { CanonicalEvent } from '../../src/canonical/canonical-event.js';
import type { CanonicalRequest } from '../../src/canonical/canonical-request.js';
import type { Usage } from '../../src/canonical/usage.js';
import { HttpTransport } from '../../src/vendors/transport/http-transport.js';
import { MediaFetcher } from '../../src/vendors/transport/media-fetcher.js';
import { UpstreamError } from '../../src/vendors/upstream-error.js';
import type { Upstream } from '../../src/vendors/upstream.js';
import { canonicalRequest, type PromptOverrides } from '../support/canonical-requests.js';
import type { ContractVendor, Reply, ScriptedAnswer } from './contract-vendor.js';
import { reply, startScriptedServer, type ScriptedServer } from './scripted-server.js';

const LIMITS = { firstByteMs: 30_000, idleMs: 30_000, requestMs: 60_000 };

/** A model's answer as its caller would see it, independent of dialects. */
export interface BenchAnswer {
  text: string;
  reasoning: string;
  toolCalls: { id: string; name: string; arguments: unknown }[];
  finish: string | undefined;
  usage: Usage | undefined;
}

/** The result of a call: the answer so far, and the failure that ended it. */
export interface Outcome {
  answer: BenchAnswer;
  failure: UpstreamError | undefined;
}

export interface AskOptions {
  prompt?: PromptOverrides;
  request?: Partial<CanonicalRequest>;
  signal?: AbortSignal;
  onEvent?: (event: CanonicalEvent) => void;
}

/** One vendor's adapter over a real transport, with a server that answers as the case says. */
export class ContractBench {
  private constructor(
    readonly vendor: ContractVendor,
    readonly server: ScriptedServer,
    private readonly transport: HttpTransport,
    private readonly adapter: Upstream,
  ) {}

  static async start(vendor: ContractVendor): Promise<ContractBench> {
    const server = await startScriptedServer((_call, response) => void response.destroy());
    const transport = new HttpTransport(1_000);
    const mediaFetcher = new MediaFetcher({ allowPrivate: false });
    const adapter = vendor.createAdapter(server.origin, { transport, mediaFetcher });
    return new ContractBench(vendor, server, transport, adapter);
  }

  async close(): Promise<void> {
    await this.transport.onApplicationShutdown();
    await this.server.close();
  }

  /** Encodes an answer like the vendor. */
  encode(answer: ScriptedAnswer, streamed: boolean): Reply {
    return streamed ? this.vendor.stream(answer) : this.vendor.whole(answer);
  }

  /** Sets the server's answer and calls the adapter. */
  answered(answer: ScriptedAnswer, streamed: boolean, options?: AskOptions): Promise<Outcome> {
    return this.replied(this.encode(answer, streamed), streamed, options);
  }

  /** Makes the server send these bytes in one piece and calls the adapter. */
  replied(
    { status, headers, body }: Reply,
    streamed: boolean,
    options?: AskOptions,
  ): Promise<Outcome> {
    this.server.script = reply(status, headers, body);
    return this.ask(streamed, options);
  }

  /** Makes the server send these pieces one by one and calls the adapter. */
  piecemeal(
    { status, headers }: Reply,
    pieces: readonly Buffer[],
    ending: 'end' | 'destroy' | 'hang',
    streamed: boolean,
    options?: AskOptions,
  ): Promise<Outcome> {
    this.server.script = async (_call, response) => {
      response.writeHead(status, headers);
      response.flushHeaders();
      // The reader gets each write as one chunk, however the network joins them.
      for (const piece of pieces) {
        await new Promise<void>((resolve) => response.write(piece, () => resolve()));
      }
      if (ending === 'end') response.end();
      if (ending === 'destroy') response.destroy();
    };
    return this.ask(streamed, options);
  }

  /** @throws errors that are not failures of the vendor */
  async ask(streamed: boolean, options: AskOptions = {}): Promise<Outcome> {
    const { prompt, request, signal = new AbortController().signal, onEvent } = options;
    const answer = new AnswerCollector();
    const canonical = canonicalRequest(prompt, {
      dialect: this.vendor.callerDialect ?? 'chat',
      stream: streamed,
      maxOutputTokens: 256,
      ...request,
    });
    const events = this.adapter.generate({
      request: canonical,
      alias: 'some/model',
      upstreamModel: this.vendor.upstreamModel,
      limits: LIMITS,
      maxOutputTokens: 256,
      signal,
    });
    try {
      for await (const event of events) {
        answer.add(event);
        onEvent?.(event);
      }
      return { answer: answer.collected(), failure: undefined };
    } catch (error) {
      if (!(error instanceof UpstreamError)) throw error;
      return { answer: answer.collected(), failure: error };
    }
  }
}

class AnswerCollector {
  private readonly answer: BenchAnswer = {
    text: '',
    reasoning: '',
    toolCalls: [],
    finish: undefined,
    usage: undefined,
  };
  private readonly argumentTexts: string[] = [];

  add(event: CanonicalEvent): void {
    switch (event.type) {
      case 'text':
        this.answer.text += event.text;
        return;
      case 'reasoning':
        this.answer.reasoning += event.text;
        return;
      case 'tool_call':
        this.answer.toolCalls[event.index] = { id: event.id, name: event.name, arguments: null };
        this.argumentTexts[event.index] = '';
        return;
      case 'tool_arguments':
        this.argumentTexts[event.index] += event.text;
        return;
      case 'finish':
        if (this.answer.finish !== undefined) throw new Error('an answer ends twice');
        this.answer.finish = event.reason;
        return;
      case 'usage':
        this.answer.usage = event.usage;
        return;
      case 'start':
        return;
      default:
        throw new Error(`a translating adapter yields ${event.type}`);
    }
  }

  /** Parses arguments only if the answer ended, since they may be incomplete otherwise. */
  collected(): BenchAnswer {
    if (this.answer.finish === undefined) return this.answer;
    const toolCalls = this.answer.toolCalls.map((call, index) => ({
      ...call,
      arguments: JSON.parse(this.argumentTexts[index]!) as unknown,
    }));
    return { ...this.answer, toolCalls };
  }
}

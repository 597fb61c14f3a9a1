import { ApiError } from '../../api/api-error';
import { buildRequest } from '../../calls/build-request';
import type { CallOutcome } from '../../calls/call-model';
import type { CallSettings, Surface, Turn } from '../../calls/conversation';
import { readTools } from '../../calls/tools';
import type { ModelRequest } from '../../calls/build-request';
import type { Answer } from '../../calls/read-answer';
import {
  EMPTY_THREAD,
  EMPTY_STATE,
  restoredState,
  sendableTurns,
  storedState,
  type Thread,
  type PlaygroundState,
} from './playground-state';

const PERSIST_AFTER_MS = 300;

/** The options of a call. */
export interface PlaygroundSettings {
  surface: Surface;
  models: readonly string[];
  settings: CallSettings;
}

/** Calls a model. */
export type Caller = (
  request: ModelRequest,
  signal: AbortSignal,
  onProgress: (answer: Answer, firstTokenMs: number | null) => void,
) => Promise<CallOutcome>;

/** Holds the playground's conversations and running calls. Persists the conversations for the tab. */
export class PlaygroundStore {
  private state: PlaygroundState;
  private readonly listeners = new Set<() => void>();
  private readonly calls = new Map<number, AbortController>();
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly name: string,
    private readonly storage: Pick<Storage, 'getItem' | 'setItem'>,
    private readonly call: Caller,
  ) {
    this.state = restoredState(storage.getItem(name));
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  readonly read = (): PlaygroundState => this.state;

  readonly change = (changes: Partial<PlaygroundState>): void => {
    this.state = { ...this.state, ...changes };
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.persist(), PERSIST_AFTER_MS);
    for (const listener of this.listeners) listener();
  };

  thread(index: number): Thread {
    return this.state.threads[index] ?? EMPTY_THREAD;
  }

  /** Sends the draft to all models. */
  send(settings: PlaygroundSettings): void {
    const threads = settings.models.map((_, index) => ({
      ...this.thread(index),
      turns: this.turnsWithDraft(index),
    }));
    this.change({ draft: '', files: [], threads });
    settings.models.forEach((_, index) => void this.run(index, settings));
  }

  /** Sends tool results to a model. */
  sendResults(
    index: number,
    results: { id: string; text: string }[],
    settings: PlaygroundSettings,
  ): void {
    this.changeThread(index, { turns: [...this.thread(index).turns, { role: 'tool', results }] });
    void this.run(index, settings);
  }

  /** Requests the last answer again. */
  retry(index: number, settings: PlaygroundSettings): void {
    const { turns } = this.thread(index);
    if (turns.at(-1)?.role === 'assistant') this.changeThread(index, { turns: turns.slice(0, -1) });
    void this.run(index, settings);
  }

  stop(index: number): void {
    this.calls.get(index)?.abort();
  }

  stopAll(): void {
    for (const call of this.calls.values()) call.abort();
    this.persist();
  }

  /** Removes a thread. */
  remove(index: number): void {
    this.stop(index);
    this.change({ threads: this.state.threads.filter((_, at) => at !== index) });
  }

  clear(): void {
    this.stopAll();
    const { system, tools } = this.state;
    this.change({ ...EMPTY_STATE, system, tools });
  }

  /** Builds the request for a thread. */
  requestOf(
    index: number,
    { surface, models, settings }: PlaygroundSettings,
    turns = this.thread(index).turns,
  ): ModelRequest {
    const read = readTools(this.state.tools);
    if ('error' in read) throw new ApiError(0, read.error, 'tools', null, null);
    return buildRequest(surface, {
      model: models[index] ?? '',
      system: this.state.system,
      turns: sendableTurns(turns),
      tools: read.tools,
      settings,
    });
  }

  /** Builds the requests that `send` would send. */
  nextRequests(settings: PlaygroundSettings): ModelRequest[] {
    return settings.models.map((_, index) =>
      this.requestOf(index, settings, this.turnsWithDraft(index)),
    );
  }

  private turnsWithDraft(index: number): Turn[] {
    const { draft, files } = this.state;
    return [...this.thread(index).turns, { role: 'user', text: draft, files: [...files] }];
  }

  private async run(index: number, settings: PlaygroundSettings): Promise<void> {
    const controller = new AbortController();
    this.calls.get(index)?.abort();
    this.calls.set(index, controller);
    const isCurrent = (): boolean => this.calls.get(index) === controller;
    try {
      const sent = this.requestOf(index, settings);
      const emptyAnswer = { text: '', reasoning: '', toolCalls: [], finishReason: null };
      this.changeThread(index, {
        sent,
        error: null,
        live: { answer: emptyAnswer, firstTokenMs: null },
      });
      const outcome = await this.call(sent, controller.signal, (answer, firstTokenMs) => {
        if (isCurrent()) this.changeThread(index, { live: { answer, firstTokenMs } });
      });
      if (isCurrent()) this.finish(index, outcome, settings, controller.signal.aborted);
    } catch (reason) {
      if (isCurrent()) this.changeThread(index, { live: null, error: threadErrorOf(reason) });
    } finally {
      if (isCurrent()) this.calls.delete(index);
    }
  }

  private finish(
    index: number,
    { answer, call, error }: CallOutcome,
    { models }: PlaygroundSettings,
    isStopped: boolean,
  ): void {
    const { turns } = this.thread(index);
    const { text, reasoning, toolCalls } = answer;
    const hasContent = text !== '' || reasoning !== '' || toolCalls.length > 0;
    const isComplete = error === null && !isStopped;
    const turn: Turn = {
      role: 'assistant',
      ...answer,
      // Arguments may be incomplete.
      toolCalls: isComplete ? toolCalls : [],
      finishReason: isStopped ? 'stopped' : answer.finishReason,
      call: { model: models[index] ?? '', ...call },
    };
    this.changeThread(index, {
      live: null,
      error: error ? threadErrorOf(error) : null,
      ...((hasContent || isComplete) && { turns: [...turns, turn] }),
    });
  }

  private changeThread(index: number, changes: Partial<Thread>): void {
    const threads = [...this.state.threads];
    for (let at = threads.length; at <= index; at++) threads.push(EMPTY_THREAD);
    threads[index] = { ...this.thread(index), ...changes };
    this.change({ threads });
  }

  private persist(): void {
    clearTimeout(this.timer);
    try {
      this.storage.setItem(this.name, storedState(this.state));
    } catch {
      // Storage is full: the state stays in memory.
    }
  }
}

function threadErrorOf(reason: unknown): Thread['error'] {
  if (reason instanceof ApiError) {
    const { message, param, requestId } = reason;
    return { message, param, requestId };
  }
  return {
    message: reason instanceof Error ? reason.message : String(reason),
    param: null,
    requestId: null,
  };
}

import { ApiError } from '../../api/api-error';
import { buildRequest } from '../../calls/build-request';
import type { CallOutcome } from '../../calls/call-model';
import type { CallSettings, Surface, Turn } from '../../calls/conversation';
import { readTools } from '../../calls/tools';
import type { ModelRequest } from '../../calls/build-request';
import type { Answer } from '../../calls/read-answer';
import {
  EMPTY_LANE,
  EMPTY_STATE,
  restoredState,
  sendableTurns,
  storedState,
  type Lane,
  type PlaygroundState,
} from './playground-state';

const STORE_AFTER_MS = 300;

/** What a call is made with. */
export interface PlaygroundSettings {
  surface: Surface;
  models: readonly string[];
  settings: CallSettings;
}

/** Makes a call, with a key. */
export type Caller = (
  request: ModelRequest,
  signal: AbortSignal,
  onProgress: (answer: Answer, firstTokenMs: number | null) => void,
) => Promise<CallOutcome>;

/** The conversations of the playground, kept for the tab, and the calls that are under way. */
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
    this.timer = setTimeout(() => this.keep(), STORE_AFTER_MS);
    for (const listener of this.listeners) listener();
  };

  lane(index: number): Lane {
    return this.state.lanes[index] ?? EMPTY_LANE;
  }

  /** Says what is in the draft to all models at once. */
  send(settings: PlaygroundSettings): void {
    const lanes = settings.models.map((_, index) => ({
      ...this.lane(index),
      turns: this.turnsWithDraft(index),
    }));
    this.change({ draft: '', files: [], lanes });
    settings.models.forEach((_, index) => void this.run(index, settings));
  }

  /** Gives a model the results of the calls that it asked for. */
  sendResults(
    index: number,
    results: { id: string; text: string }[],
    settings: PlaygroundSettings,
  ): void {
    this.changeLane(index, { turns: [...this.lane(index).turns, { role: 'tool', results }] });
    void this.run(index, settings);
  }

  /** Has the last answer given anew. */
  retry(index: number, settings: PlaygroundSettings): void {
    const { turns } = this.lane(index);
    if (turns.at(-1)?.role === 'assistant') this.changeLane(index, { turns: turns.slice(0, -1) });
    void this.run(index, settings);
  }

  stop(index: number): void {
    this.calls.get(index)?.abort();
  }

  stopAll(): void {
    for (const call of this.calls.values()) call.abort();
    this.keep();
  }

  /** Takes one of the conversations away, with its model. */
  remove(index: number): void {
    this.stop(index);
    this.change({ lanes: this.state.lanes.filter((_, at) => at !== index) });
  }

  clear(): void {
    this.stopAll();
    const { system, tools } = this.state;
    this.change({ ...EMPTY_STATE, system, tools });
  }

  /** The request that the conversation comes to, as it would be sent now. */
  requestOf(
    index: number,
    { surface, models, settings }: PlaygroundSettings,
    turns = this.lane(index).turns,
  ): ModelRequest {
    const read = readTools(this.state.tools);
    if ('fault' in read) throw new ApiError(0, read.fault, 'tools', null, null);
    return buildRequest(surface, {
      model: models[index] ?? '',
      system: this.state.system,
      turns: sendableTurns(turns),
      tools: read.tools,
      settings,
    });
  }

  /** The requests that `send` would send. */
  nextRequests(settings: PlaygroundSettings): ModelRequest[] {
    return settings.models.map((_, index) =>
      this.requestOf(index, settings, this.turnsWithDraft(index)),
    );
  }

  private turnsWithDraft(index: number): Turn[] {
    const { draft, files } = this.state;
    return [...this.lane(index).turns, { role: 'user', text: draft, files: [...files] }];
  }

  private async run(index: number, settings: PlaygroundSettings): Promise<void> {
    const controller = new AbortController();
    this.calls.get(index)?.abort();
    this.calls.set(index, controller);
    const isCurrent = (): boolean => this.calls.get(index) === controller;
    try {
      const sent = this.requestOf(index, settings);
      const nothing = { text: '', reasoning: '', toolCalls: [], finishReason: null };
      this.changeLane(index, { sent, error: null, live: { answer: nothing, firstTokenMs: null } });
      const outcome = await this.call(sent, controller.signal, (answer, firstTokenMs) => {
        if (isCurrent()) this.changeLane(index, { live: { answer, firstTokenMs } });
      });
      if (isCurrent()) this.finish(index, outcome, settings, controller.signal.aborted);
    } catch (reason) {
      if (isCurrent()) this.changeLane(index, { live: null, error: laneError(reason) });
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
    const { turns } = this.lane(index);
    const { text, reasoning, toolCalls } = answer;
    const hasSaid = text !== '' || reasoning !== '' || toolCalls.length > 0;
    const isGood = error === null && !isStopped;
    const turn: Turn = {
      role: 'assistant',
      ...answer,
      // Their arguments may be half there.
      toolCalls: isGood ? toolCalls : [],
      finishReason: isStopped ? 'stopped' : answer.finishReason,
      call: { model: models[index] ?? '', ...call },
    };
    this.changeLane(index, {
      live: null,
      error: error ? laneError(error) : null,
      ...((hasSaid || isGood) && { turns: [...turns, turn] }),
    });
  }

  private changeLane(index: number, changes: Partial<Lane>): void {
    const lanes = [...this.state.lanes];
    for (let at = lanes.length; at <= index; at++) lanes.push(EMPTY_LANE);
    lanes[index] = { ...this.lane(index), ...changes };
    this.change({ lanes });
  }

  private keep(): void {
    clearTimeout(this.timer);
    try {
      this.storage.setItem(this.name, storedState(this.state));
    } catch {
      // It is full: what is on the screen stays there.
    }
  }
}

function laneError(reason: unknown): Lane['error'] {
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

import type { CanonicalEvent } from '../../../canonical/canonical-event.js';
import { isJsonObject, type JsonObject } from '../../../platform/http/json-body.js';
import { unreadable } from '../../upstream-error.js';
import { objectOf } from '../answer-json.js';
import { HeldBack } from '../held-back.js';
import { CallIds } from '../tool-calls.js';

/** A tool call of which some has come. */
interface OpenCall {
  /** Position among the choice's calls. */
  index: number;
  /** The server's own id, for telling the pieces apart. */
  wireId: string | undefined;
  name: string | undefined;
  /** Arguments that came before the name. */
  held: string;
  hasArguments: boolean;
}

/**
 * Puts the pieces of a choice's tool calls together.
 *
 * By the dialect's rule a piece belongs to the call of its `index`, and the first piece of a call
 * brings `id` and name. Servers that follow the dialect only roughly leave the index out, give
 * every call the same one, repeat id and name in every piece, give no id or one id to all calls, or
 * send whole calls at once. Each call comes out with a position of its own, an id that is unique in
 * the choice, and arguments that are never empty.
 */
export class ToolCallAssembler {
  private readonly calls: OpenCall[] = [];
  private readonly byWireIndex = new Map<number, OpenCall>();
  /** The last call of each of the server's ids. */
  private readonly byWireId = new Map<string, OpenCall>();
  private readonly ids = new CallIds();
  private readonly heldBack = new HeldBack();

  constructor(private readonly choice: number) {}

  get hasCalls(): boolean {
    return this.calls.length > 0;
  }

  /**
   * The events of one entry of `tool_calls`, of a delta or of a whole message.
   *
   * @throws UpstreamError `unreadable` for calls without names or arguments without end
   */
  push(entry: JsonObject, events: CanonicalEvent[]): void {
    const definition = entry.function ?? entry.custom;
    const { name, arguments: args, input } = objectOf(definition);
    const call = this.callOf(
      typeof entry.index === 'number' ? entry.index : undefined,
      nonEmpty(entry.id),
      nonEmpty(name),
    );
    this.begin(call, nonEmpty(name), events);
    const text = textOf(args ?? input);
    if (text === '') return;
    if (call.name === undefined) {
      this.heldBack.add(text);
      call.held += text;
      return;
    }
    call.hasArguments = true;
    events.push({ type: 'tool_arguments', choice: this.choice, index: call.index, text });
  }

  /**
   * No more pieces will come.
   *
   * @throws UpstreamError `unreadable` when a call never got its name
   */
  close(events: CanonicalEvent[]): void {
    for (const call of this.calls) {
      if (call.name === undefined) {
        throw unreadable('a tool call without a name');
      }
      if (call.hasArguments) continue;
      call.hasArguments = true;
      events.push({ type: 'tool_arguments', choice: this.choice, index: call.index, text: '{}' });
    }
  }

  private callOf(
    wireIndex: number | undefined,
    wireId: string | undefined,
    name: string | undefined,
  ): OpenCall {
    const call =
      wireIndex === undefined
        ? this.findWithoutIndex(wireId, name)
        : this.findByIndex(wireIndex, wireId, name);
    const found = call ?? this.open();
    if (found.wireId === undefined && wireId !== undefined) {
      found.wireId = wireId;
      this.byWireId.set(wireId, found);
    }
    if (wireIndex !== undefined) this.byWireIndex.set(wireIndex, found);
    return found;
  }

  private findByIndex(
    wireIndex: number,
    wireId: string | undefined,
    name: string | undefined,
  ): OpenCall | undefined {
    const known = this.byWireIndex.get(wireIndex);
    // A first piece may have come without its index.
    if (!known) return (wireId ?? name) ? undefined : this.calls.at(-1);
    if (wireId === undefined || known.wireId === undefined || wireId === known.wireId) return known;
    // The index is that of another call: either it is used for all calls, or the id is made anew
    // for every piece. Only the first piece of a call brings a name.
    return this.byWireId.get(wireId) ?? (name === undefined ? known : undefined);
  }

  private findWithoutIndex(
    wireId: string | undefined,
    name: string | undefined,
  ): OpenCall | undefined {
    const last = this.calls.at(-1);
    if (wireId === undefined) return name === undefined ? last : undefined;
    const known = this.byWireId.get(wireId);
    if (known) return name === undefined || (known.name ?? name) === name ? known : undefined;
    return name === undefined ? last : undefined;
  }

  private open(): OpenCall {
    this.heldBack.add('');
    const call: OpenCall = {
      index: this.calls.length,
      wireId: undefined,
      name: undefined,
      held: '',
      hasArguments: false,
    };
    this.calls.push(call);
    return call;
  }

  private begin(call: OpenCall, name: string | undefined, events: CanonicalEvent[]): void {
    if (call.name !== undefined || name === undefined) return;
    call.name = name;
    const { choice } = this;
    const { index, held } = call;
    events.push({ type: 'tool_call', choice, index, id: this.ids.next(call.wireId), name });
    if (held === '') return;
    call.hasArguments = true;
    events.push({ type: 'tool_arguments', choice, index, text: held });
  }
}

function nonEmpty(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** JSON text, or the object itself, which some servers send in its place. */
function textOf(args: unknown): string {
  if (typeof args === 'string') return args;
  return isJsonObject(args) ? JSON.stringify(args) : '';
}

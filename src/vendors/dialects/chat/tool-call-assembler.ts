import type { CanonicalEvent } from '../../../canonical/canonical-event.js';
import { isJsonObject, type JsonObject } from '../../../platform/http/json-body.js';
import { unreadable } from '../../upstream-error.js';
import { objectOf } from '../answer-json.js';
import { HeldBackLimit } from '../held-back.js';
import { CallIds } from '../tool-calls.js';

/** A partially received tool call. */
interface OpenCall {
  /** Position among the choice's calls. */
  index: number;
  /** The server's own id, to match pieces. */
  wireId: string | undefined;
  name: string | undefined;
  /** Arguments received before the name. */
  held: string;
  hasArguments: boolean;
}

/**
 * Assembles the pieces of a choice's tool calls.
 *
 * In the dialect, a piece belongs to the call of its `index`, and the first piece of a call has `id` and
 * name. Less strict servers omit the index, use the same one for every call, repeat id and name in every
 * piece, send no id or one id for all calls, or send whole calls at once. The result is always a distinct
 * position per call, an id that is unique in the choice, and non-empty arguments.
 */
export class ToolCallAssembler {
  private readonly calls: OpenCall[] = [];
  private readonly byWireIndex = new Map<number, OpenCall>();
  /** The latest call of each server id. */
  private readonly byWireId = new Map<string, OpenCall>();
  private readonly ids = new CallIds();
  private readonly heldBack = new HeldBackLimit();

  constructor(private readonly choice: number) {}

  get hasCalls(): boolean {
    return this.calls.length > 0;
  }

  /**
   * Appends the events of one entry of `tool_calls`, from a delta or a whole message.
   *
   * @throws UpstreamError `unreadable` for calls without names or with endless arguments
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
   * Ends the calls.
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
    // The index belongs to another call: either all calls use it, or every piece has a new id. Only the
    // first piece of a call has a name.
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

/** Returns the JSON text of arguments that some servers send as an object. */
function textOf(args: unknown): string {
  if (typeof args === 'string') return args;
  return isJsonObject(args) ? JSON.stringify(args) : '';
}

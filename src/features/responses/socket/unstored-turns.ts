import type { BodyLease, BodyShare } from '../../../platform/http/body-budget.js';
import { isJsonObject } from '../../../platform/http/json-body.js';
import { topLevelMembers, spliceMembers } from '../../../platform/http/top-level-members.js';

/** A turn that is stored nowhere, as JSON. */
interface Turn {
  /** All items since what it goes on from. */
  readonly items: string;
  /** What is stored that it goes on from, where there is such a thing. */
  readonly previous: string | undefined;
}

/**
 * What a socket remembers of its last turn with `store: false`: the next one may go on from it, and is
 * sent with all items then. It is gone with the socket, and with the next such turn.
 */
export class UnstoredTurns {
  private asked: Turn | undefined;
  private last: (Turn & { readonly id: string; readonly lease: BodyLease }) | undefined;

  constructor(private readonly bodies: BodyShare) {}

  /** The body of a request, with what is remembered here in its input where it goes on from that. */
  expand(body: Buffer): Buffer {
    const members = topLevelMembers(body);
    const textOf = (name: string): string | undefined => {
      const member = members.findLast(({ key }) => key === name);
      return member && body.toString('utf8', member.valueStart, member.valueEnd);
    };
    const named = textOf('previous_response_id');
    const last = this.last && named === JSON.stringify(this.last.id) ? this.last : undefined;
    const previous = last ? last.previous : named;
    const own = itemsOf(textOf('input'));
    const items = last && own !== undefined ? join(last.items, own) : own;
    const isStored = textOf('store') !== 'false' || textOf('conversation') !== undefined;
    this.asked = isStored || items === undefined ? undefined : { items, previous };
    if (!last || items === undefined) return body;
    const edits = new Map([
      ['input', items],
      ['previous_response_id', previous],
    ]);
    return spliceMembers(body, members, edits);
  }

  /** The turn has been answered. @param data of the last event */
  complete(data: string): void {
    const { asked } = this;
    this.asked = undefined;
    if (!asked) return;
    const event: unknown = JSON.parse(data);
    const response = isJsonObject(event) && isJsonObject(event.response) ? event.response : {};
    const { id, output } = response;
    if (typeof id !== 'string' || !Array.isArray(output)) return;
    const items = join(asked.items, JSON.stringify(output));
    this.forget();
    const lease = this.bodies.lease(undefined);
    try {
      lease.add(Buffer.byteLength(items));
      this.last = { ...asked, items, id, lease };
    } catch {
      // No memory: whoever goes on from it hears that it is not there.
      lease.release();
    }
  }

  forget(): void {
    this.last?.lease.release();
    this.last = undefined;
  }
}

/** JSON of the items of an input; undefined for what is none. */
function itemsOf(input: string | undefined): string | undefined {
  if (input?.startsWith('"')) return `[{"role":"user","content":${input}}]`;
  return input?.startsWith('[') ? input : undefined;
}

/** Two lists as one. */
function join(first: string, second: string): string {
  const [before, after] = [first.trim().slice(1, -1).trim(), second.trim().slice(1, -1).trim()];
  return `[${before}${before !== '' && after !== '' ? ',' : ''}${after}]`;
}

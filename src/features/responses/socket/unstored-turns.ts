import type { BodyLease, BodyShare } from '../../../platform/http/body-budget.js';
import { isJsonObject } from '../../../platform/http/json-body.js';
import { topLevelMembers, spliceMembers } from '../../../platform/http/top-level-members.js';

/** An unstored turn, as JSON. */
interface Turn {
  /** All items after `previous`. */
  readonly items: string;
  /** Stored response that the items follow, if any. */
  readonly previous: string | undefined;
}

/**
 * Remembers a socket's last turn with `store: false`, so that the next one can continue it. Lost
 * with the socket, and replaced by the next such turn.
 */
export class UnstoredTurns {
  private asked: Turn | undefined;
  private last: (Turn & { readonly id: string; readonly lease: BodyLease }) | undefined;

  constructor(private readonly bodies: BodyShare) {}

  /** Returns the request body, with the remembered items added when it continues them. */
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

  /** Remembers an answered turn. @param data of the last event */
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
      // Without memory the turn is forgotten, and continuing it fails as not found.
      lease.release();
    }
  }

  forget(): void {
    this.last?.lease.release();
    this.last = undefined;
  }
}

/** Returns the JSON of an input's items; undefined when it is invalid. */
function itemsOf(input: string | undefined): string | undefined {
  if (input?.startsWith('"')) return `[{"role":"user","content":${input}}]`;
  return input?.startsWith('[') ? input : undefined;
}

/** Concatenates two JSON lists. */
function join(first: string, second: string): string {
  const [before, after] = [first.trim().slice(1, -1).trim(), second.trim().slice(1, -1).trim()];
  return `[${before}${before !== '' && after !== '' ? ',' : ''}${after}]`;
}

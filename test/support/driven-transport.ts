import type { CanonicalEvent } from '../../src/canonical/canonical-event.js';
import type { HttpCall, HttpTransport } from '../../src/vendors/transport/http-transport.js';
import { FakeConnection } from './fake-connection.js';

/** Drives a call's connection once the call is made. */
export type Drive = (connection: FakeConnection) => void;

export interface DrivenTransport {
  transport: HttpTransport;
  /** All calls so far and the connection of each. */
  calls: HttpCall[];
  connections: FakeConnection[];
}

/** A transport that answers each call over a connection the test drives. */
export function drivenTransport(drive: Drive): DrivenTransport {
  const calls: HttpCall[] = [];
  const connections: FakeConnection[] = [];
  const transport = {
    call(call: HttpCall) {
      const connection = new FakeConnection(call.limits, { signal: call.signal });
      calls.push(call);
      connections.push(connection);
      if (!connection.response.isOver) drive(connection.start());
      return connection.head;
    },
  };
  return { transport: transport as unknown as HttpTransport, calls, connections };
}

/** Answers a call with a complete JSON body. */
export function sendJson(body: unknown, status = 200, headers: Record<string, string> = {}): Drive {
  return (connection) =>
    void connection
      .answer(status, { 'content-type': 'application/json', ...headers })
      .send(JSON.stringify(body))
      .end();
}

/** Reads an answer to its end. */
export async function collectEvents(
  events: AsyncIterable<CanonicalEvent>,
): Promise<CanonicalEvent[]> {
  const collected: CanonicalEvent[] = [];
  for await (const event of events) collected.push(event);
  return collected;
}

import { describe, expect, it, jest } from '@jest/globals';
import { once } from 'node:events';
import { Server, type AddressInfo } from 'node:net';
import { LeanExpressAdapter } from './lean-express.adapter.js';

describe(LeanExpressAdapter.name, () => {
  it.each<[[] | [string]]>([[['127.0.0.1']], [[]]])(
    'lets many connections wait to be accepted (at %j)',
    async (host) => {
      const adapter = new LeanExpressAdapter();
      adapter.initHttpServer();
      const listen = jest.spyOn(Server.prototype, 'listen');
      const server = host.length === 0 ? adapter.listen('0') : adapter.listen('0', ...host);
      await once(server, 'listening');
      expect(listen.mock.calls[0]![0]).toMatchObject({ backlog: 4_096 });
      expect((server.address() as AddressInfo).port).toBeGreaterThan(0);
      listen.mockRestore();
      await new Promise((resolve) => server.close(resolve));
    },
  );
});

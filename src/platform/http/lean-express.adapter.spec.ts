import { describe, expect, it, jest } from '@jest/globals';
import { EventEmitter, once } from 'node:events';
import { Server, type AddressInfo } from 'node:net';
import type { Request, Response } from 'express';
import { OverloadedError } from '../errors/gateway-errors.js';
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

  it('has a request wait for its turn, and answers one that gets none', async () => {
    const adapter = new LeanExpressAdapter();
    adapter.initHttpServer();
    adapter.get('/', (_request: Request, response: Response) => void response.send('served'));
    const server = adapter.listen('0', '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const turns = new EventEmitter();
    const refusal = new OverloadedError('authorization', 'Too many wait.', 2, 'too_many');
    adapter.turnOf = async ({ url }) => {
      if (url === '/?patient') await once(turns, 'given');
      if (url === '/?unlucky') throw refusal;
    };
    const ask = (query: string) => fetch(`http://127.0.0.1:${port}/?${query}`);
    const patient = ask('patient');
    const refused = await ask('unlucky');
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '2']);
    expect(await refused.json()).toMatchObject({ error: { param: 'authorization' } });
    expect(await (await ask('lucky')).text()).toBe('served');
    turns.emit('given');
    expect(await (await patient).text()).toBe('served');
    await new Promise((resolve) => server.close(resolve));
  });
});

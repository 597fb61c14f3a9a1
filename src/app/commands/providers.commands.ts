import { checkAccount } from '../../core/credentials/account-check.js';
import { HttpTransport } from '../../vendors/transport/http-transport.js';
import { MediaFetcher } from '../../vendors/transport/media-fetcher.js';
import { UpstreamRegistry } from '../../vendors/upstream.registry.js';
import { formatTable, type Command } from './command.js';

export const providersCheckCommand: Command = {
  name: 'providers check',
  summary:
    'Call each configured provider once, which costs nothing, and say which keys it takes and how many models it lists.',
  parameters: [],
  options: {},
  async run(_, context) {
    const config = context.config();
    const transport = new HttpTransport(config.limits.connectTimeoutMs);
    const fetcher = new MediaFetcher({ allowPrivate: config.allowPrivateDestinations });
    const upstreams = new UpstreamRegistry(config, transport, fetcher);
    try {
      const accounts = config.providers.flatMap((provider) =>
        (provider.accounts ?? [undefined]).map((account) => ({ provider, account: account?.id })),
      );
      const checks = await Promise.all(
        accounts.map(async ({ provider: { id, name }, account }) => {
          const check = await checkAccount(upstreams.get(id, account), name);
          return { name: account === undefined ? id : `${id}@${account}`, ...check };
        }),
      );
      const rows = checks.map(({ name, ok, message }) => [name, ok ? 'ok' : 'FAILED', message]);
      formatTable(rows).forEach(context.print);
      return checks.every(({ ok }) => ok) ? 0 : 1;
    } finally {
      await transport.onApplicationShutdown();
    }
  },
};

import { CatalogueService } from '../../core/catalogue/catalogue.service.js';
import { checkProviders } from '../../core/configuration/provider-checks.service.js';
import { isWell } from '../../core/credentials/account-check.js';
import { HttpTransport } from '../../vendors/transport/http-transport.js';
import { MediaFetcher } from '../../vendors/transport/media-fetcher.js';
import { UpstreamRegistry } from '../../vendors/upstream.registry.js';
import { describeChecks } from '../bootstrap/describe-checks.js';
import type { Command } from './command.js';

export const providersCheckCommand: Command = {
  name: 'providers check',
  summary:
    'Call each configured provider once, free of charge, and report which keys work and which catalogue models they see.',
  parameters: [],
  options: {},
  async run(_, context) {
    const config = context.config();
    const transport = new HttpTransport(config.limits.connectTimeoutMs);
    const fetcher = new MediaFetcher({ allowPrivate: config.allowPrivateDestinations });
    const upstreams = new UpstreamRegistry(config, transport, fetcher);
    try {
      const checks = await checkProviders(upstreams, new CatalogueService(config));
      describeChecks(checks).forEach(context.print);
      return checks.every(({ check }) => isWell(check)) ? 0 : 1;
    } finally {
      await transport.onApplicationShutdown();
    }
  },
};

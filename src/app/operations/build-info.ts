import { existsSync, readFileSync } from 'node:fs';
import { Injectable } from '@nestjs/common';
import { CatalogueService } from '../../core/catalogue/catalogue.service.js';
import { ConfigurationService } from '../../core/configuration/configuration.service.js';
import { GatewayMetrics } from '../../platform/metrics/gateway-metrics.js';
import { unhandledRejections } from '../process/end-gracefully.js';

/** Relative to the sources, and to the build in its own folder. */
const MANIFESTS = ['../../../package.json', '../../../../package.json'];

/** Reports what runs on this instance, so that differences between instances are visible. */
@Injectable()
export class BuildInfo {
  constructor(
    metrics: GatewayMetrics,
    catalogue: CatalogueService,
    configuration: ConfigurationService,
  ) {
    const version = readVersion();
    metrics.trackEach(
      'gateway_build_info',
      'Always 1; labels give the version, the Node.js version and the catalogue.',
      ['version', 'node', 'catalogue'],
      () => [
        { labels: { version, node: process.version, catalogue: catalogue.fingerprint }, value: 1 },
      ],
      'first',
    );
    metrics.trackEach(
      'gateway_config_version',
      'Version number of the configuration in use, the oldest of all processes; 0 before the first.',
      [],
      () => [{ labels: {}, value: configuration.current?.number ?? 0 }],
      'min',
    );
    metrics.track(
      'gateway_config_refused',
      'Processes that cannot adopt the latest configuration version and use an earlier one.',
      () => Number(configuration.adoptionFault !== undefined),
    );
    metrics.trackTotal(
      'gateway_unhandled_rejections_total',
      'Unhandled promise rejections. They are bugs to report; the process keeps running.',
      () => unhandledRejections.count,
    );
    metrics.trackEach(
      'gateway_config_info',
      'Always 1; labels give the configuration version, and the fingerprint of it combined with variables and files.',
      ['version', 'fingerprint'],
      () => [
        {
          labels: {
            version: String(configuration.current?.number ?? 0),
            fingerprint: configuration.fingerprint,
          },
          value: 1,
        },
      ],
      'max',
    );
  }
}

function readVersion(): string {
  const manifest = MANIFESTS.map((path) => new URL(path, import.meta.url)).find((url) =>
    existsSync(url),
  );
  const { version }: { version?: string } = manifest
    ? (JSON.parse(readFileSync(manifest, 'utf8')) as { version?: string })
    : {};
  return version ?? 'unknown';
}

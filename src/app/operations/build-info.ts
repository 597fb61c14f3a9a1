import { existsSync, readFileSync } from 'node:fs';
import { Injectable } from '@nestjs/common';
import { CatalogueService } from '../../core/catalogue/catalogue.service.js';
import { ConfigurationService } from '../../core/configuration/configuration.service.js';
import { GatewayMetrics } from '../../platform/metrics/gateway-metrics.js';
import { unhandledRejections } from '../process/end-gracefully.js';

/** As seen from the sources, and from the build in its folder of its own. */
const MANIFESTS = ['../../../package.json', '../../../../package.json'];

/** Says what runs here, so that instances which differ are seen side by side. */
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
      'Always 1; its labels say which version runs, on which Node, with which catalogue.',
      ['version', 'node', 'catalogue'],
      () => [
        { labels: { version, node: process.version, catalogue: catalogue.fingerprint }, value: 1 },
      ],
      'first',
    );
    metrics.trackEach(
      'gateway_config_version',
      'Number of the version of the configuration in use, the oldest of the processes; 0 before the first.',
      [],
      () => [{ labels: {}, value: configuration.current?.number ?? 0 }],
      'min',
    );
    metrics.track(
      'gateway_config_refused',
      'Processes that cannot adopt the latest version of the configuration and use an earlier one.',
      () => Number(configuration.adoptionFault !== undefined),
    );
    metrics.trackTotal(
      'gateway_unhandled_rejections_total',
      'Promises that were rejected and not handled: faults to report. The process goes on.',
      () => unhandledRejections.count,
    );
    metrics.trackEach(
      'gateway_config_info',
      'Always 1; its labels say which version of the configuration is used, and what it comes to with variables and files.',
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

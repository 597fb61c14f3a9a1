import { existsSync, readFileSync } from 'node:fs';
import { Injectable } from '@nestjs/common';
import { CatalogueService } from '../../core/catalogue/catalogue.service.js';
import { GatewayMetrics } from '../../platform/metrics/gateway-metrics.js';

/** As seen from the sources, and from the build in its folder of its own. */
const MANIFESTS = ['../../../package.json', '../../../../package.json'];

/** Says what runs here, so that instances which differ are seen side by side. */
@Injectable()
export class BuildInfo {
  constructor(metrics: GatewayMetrics, { fingerprint }: CatalogueService) {
    const labels = { version: readVersion(), node: process.version, catalogue: fingerprint };
    metrics.trackEach(
      'gateway_build_info',
      'Always 1; its labels say which version runs, on which Node, with which catalogue.',
      Object.keys(labels),
      () => [{ labels, value: 1 }],
      'first',
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

import { describe, expect, it } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

const IMPORT = /^(?:import|export) (?!type\b)(?:[^;']* from )?'([^']+)'/gm;

/** Returns the files of `src` that load such a package when they are loaded. */
function findEager(packages: string): string[] {
  const importsOf = new Map<string, string[]>();
  for (const name of readdirSync('src', { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.ts') || name.endsWith('.spec.ts')) continue;
    const path = join('src', name);
    const found = [...readFileSync(path, 'utf8').matchAll(IMPORT)].map(([, target = '']) =>
      target.startsWith('.')
        ? posix.join(posix.dirname(path), target).replace(/\.js$/, '.ts')
        : target,
    );
    importsOf.set(path, found);
  }
  const eager = new Set<string>();
  for (let size = -1; size < eager.size;) {
    size = eager.size;
    for (const [path, targets] of importsOf) {
      if (targets.some((target) => target.startsWith(packages) || eager.has(target))) {
        eager.add(path);
      }
    }
  }
  return [...eager].sort();
}

describe('the packages of OpenTelemetry', () => {
  it('are loaded only by code that exports or renders traces, which is imported on demand', () => {
    expect(findEager('@opentelemetry/')).toEqual([
      'src/core/tracing/operator-exporters.ts',
      'src/core/tracing/prometheus-metrics.ts',
      'src/core/tracing/to-spans.ts',
      'src/features/broadcast/render-batch.ts',
    ]);
  });
});

describe('the package for logins at an issuer', () => {
  it('is loaded with the first login', () => {
    expect(findEager('openid-client')).toEqual([]);
  });
});

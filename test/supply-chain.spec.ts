import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import {
  cycloneDx,
  knownAdvisories,
  shippedPackages,
  unknownLicences,
  type Advisory,
} from '../scripts/supply-chain.mjs';

const json = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'));
const packages = shippedPackages();

describe('shipped packages', () => {
  it('have reviewed licences', () => {
    expect(packages.length).toBeGreaterThan(150);
    expect(unknownLicences(packages)).toEqual([]);
    const strange = { name: 'x', version: '1.0.0' };
    expect(unknownLicences([{ ...strange, licence: 'AGPL-3.0' }])).toHaveLength(1);
    expect(unknownLicences([{ ...strange, licence: '(MIT OR GPL-3.0)' }])).toEqual([]);
    expect(unknownLicences([{ ...strange, licence: 'MIT AND GPL-3.0' }])).toHaveLength(1);
  });

  it('are listed in the SBOM, each version once', () => {
    const { bomFormat, components } = cycloneDx(packages);
    expect(bomFormat).toBe('CycloneDX');
    expect(new Set(components.map(({ purl }) => purl)).size).toBe(components.length);
    const direct = ['package.json', 'console/package.json'].flatMap((path) =>
      Object.keys((json(path) as { dependencies: Record<string, string> }).dependencies),
    );
    expect(direct).toContain('react-dom');
    const names = components.map(({ name }) => name);
    expect(direct.filter((name) => !names.includes(name))).toEqual([]);
    expect(names).not.toContain('jest');
    expect(names).not.toContain('vite');
    expect(components.find(({ name }) => name === 'undici')).toMatchObject({
      purl: expect.stringMatching(/^pkg:npm\/undici@\d/),
      scope: 'required',
      licenses: [{ expression: 'MIT' }],
      hashes: [{ alg: 'SHA-512', content: expect.stringMatching(/^[0-9a-f]{128}$/) }],
    });
    expect(components.find(({ name }) => name === '@nestjs/core')?.purl).toMatch(
      /^pkg:npm\/%40nestjs\/core@/,
    );
  });

  it('have no version with a known advisory', () => {
    expect(knownAdvisories(packages).filter(({ accepted }) => !accepted)).toEqual([]);
    const { name, version } = packages[0]!;
    const advisory: Advisory = {
      id: 'x',
      name,
      range: `<=${version}`,
      severity: 'high',
      title: 'x',
    };
    expect(knownAdvisories(packages, [advisory])).toEqual([advisory]);
    expect(knownAdvisories(packages, [{ ...advisory, range: `<${version}` }])).toEqual([]);
  });
});

describe('an installation', () => {
  const { scripts, allowScripts } = json('package.json') as {
    scripts: Record<string, string>;
    allowScripts: Record<string, boolean>;
  };

  it('runs no package scripts, with any npm release', () => {
    for (const path of ['.npmrc', 'console/.npmrc']) {
      expect(readFileSync(path, 'utf8')).toMatch(/^ignore-scripts=true$/m);
    }
    const { packages: locked } = json('package-lock.json') as {
      packages: Record<string, { hasInstallScript?: boolean }>;
    };
    const withScript = Object.entries(locked)
      .filter(([, { hasInstallScript }]) => hasInstallScript)
      .map(([place]) => place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length));
    expect(withScript.filter((name) => allowScripts[name] !== false)).toEqual([]);
    expect(Object.values(allowScripts)).not.toContain(true);
    for (const line of readFileSync('docker/Dockerfile', 'utf8').match(/^RUN npm ci .*/gm)!) {
      expect(line).toContain('--ignore-scripts');
    }
  });

  it('needs none of our own scripts either', () => {
    const hooks = Object.keys(scripts).filter((name) =>
      /^(pre|post)|^prepare$|^install$/.test(name),
    );
    expect(hooks).toEqual([]);
  });
});

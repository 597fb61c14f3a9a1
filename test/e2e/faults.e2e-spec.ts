import { expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describeWithRedis } from '../support/redis-server.js';

const SUITE = fileURLToPath(new URL('../../bench/soak/faults/run.mjs', import.meta.url));
const LIMIT_MS = 300_000;
/** The short form of `npm run test:faults`. */
const SHORT = {
  seed: 5,
  requests: 100,
  faults: 40,
  seconds: 6,
  tenants: 10,
  gateways: 2,
  settle: 0,
};

describeWithRedis('processes and stores that are killed, frozen and starved', () => {
  // Needs Linux's signals, limits and /proc.
  const itOnLinux = process.platform === 'linux' ? it : it.skip;

  itOnLinux(
    'leave every answer charged once and every failure free',
    async () => {
      const words = Object.entries(SHORT).flatMap(([name, value]) => [`--${name}`, String(value)]);
      const { stdout } = await promisify(execFile)(process.execPath, [SUITE, ...words], {
        timeout: LIMIT_MS,
      }).catch((error: Error & { stdout?: string; stderr?: string }) => {
        throw new Error(`${error.stdout}\n${error.stderr}`);
      });
      expect(stdout).toContain('violations: 0');
      expect(stdout).toMatch(/requests: 100 .*\n.*delivered \d/);
      expect(stdout).toMatch(/faults: 40, gateways killed [1-9]/);
    },
    LIMIT_MS,
  );
});

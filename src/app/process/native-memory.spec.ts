import { describe, expect, it } from '@jest/globals';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { until } from '../../../test/support/until.js';
import { returnNativeMemory } from './native-memory.js';

const PIECES = 20_000;
const PIECE_BYTES = 5_000;
/** The name of the C library stands in Node's own report. */
const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } };
const onGlibc = header.glibcVersionRuntime === undefined ? it.skip : it;

describe('returning native memory', () => {
  onGlibc('gives back what lies between pieces in use', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;

    let pieces = Array.from({ length: PIECES }, () => Buffer.allocUnsafeSlow(PIECE_BYTES).fill(1));
    const fullBytes = process.memoryUsage().arrayBuffers;
    pieces = pieces.filter((_piece, index) => index % 100 === 0);
    collect();
    // The collected pieces are freed by helper threads, which takes a while.
    await until(() => fullBytes - process.memoryUsage().arrayBuffers > 0.9 * PIECES * PIECE_BYTES);
    const before = process.memoryUsage.rss();
    await returnNativeMemory();

    expect(before - process.memoryUsage.rss()).toBeGreaterThan((PIECES * PIECE_BYTES) / 2);
    expect(pieces).toHaveLength(PIECES / 100);
  });
});

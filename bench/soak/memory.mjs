import { clearInterval, setInterval } from 'node:timers';
import { setTimeout as wait } from 'node:timers/promises';
import { megabytes } from '../lines.mjs';
import { readTreeMemory } from '../process-tree.mjs';
import { told } from './table.mjs';

const SERIES_EVERY_MS = 5_000;
/** Memory counts as released when it exceeds its level before the load by at most this share. */
const BACK_WITHIN = 0.2;

/** Resident memory of the gateway's Node process, in bytes. */
export function readMemory({ pid }) {
  return readTreeMemory(pid).node;
}

/** Samples the memory until `stop`, which returns the samples with their times. */
export function watchMemory(gateway, everyMs) {
  const samples = [];
  const read = () => samples.push({ atMs: Date.now(), bytes: readMemory(gateway) });
  read();
  // A scenario that fails midway must not keep the run alive.
  const watch = setInterval(read, everyMs).unref();
  return {
    stop() {
      clearInterval(watch);
      read();
      return samples;
    },
  };
}

/** Samples the memory during a rest every 5 s, beginning at its start. */
export async function readRestSeries(gateway, restSeconds) {
  const series = [readMemory(gateway)];
  for (let pastMs = 0; pastMs < restSeconds * 1000; pastMs += SERIES_EVERY_MS) {
    await wait(SERIES_EVERY_MS);
    series.push(readMemory(gateway));
  }
  return series;
}

/** Returns the line about released memory. @param before bytes at rest before the load */
export function restLine(before, series) {
  const limit = before * (1 + BACK_WITHIN);
  const last = series.at(-1);
  const isBackAt = series.findIndex((bytes) => bytes <= limit);
  const when = isBackAt === -1 ? '' : `, first within the bound after ${isBackAt * 5} s`;
  return {
    what: `memory ${(series.length - 1) * 5} s after the load`,
    figure: `${megabytes(last)}${when}`,
    bound: `≤ ${megabytes(limit)} (${megabytes(before)} before + ${100 * BACK_WITHIN} %)`,
    isMet: last <= limit,
  };
}

/** Returns the line about memory in use after a collection. @param inUse of `collectGarbage` */
export function inUseLine(when, { heapBytes, bufferBytes, residentBytes }) {
  return told(
    `memory in use ${when}, after a forced collection`,
    `heap ${megabytes(heapBytes)}, buffers ${megabytes(bufferBytes)}, ` +
      `resident ${megabytes(residentBytes)}`,
  );
}

export function seriesNote(series) {
  const values = series.map((bytes) => Math.round(bytes / 1e6)).join(', ');
  return `memory after the load, every 5 s, in MB: ${values}`;
}

import { Driver } from '../driver.mjs';
import { megabytes } from '../lines.mjs';
import { MillisecondHistogram } from '../statistics.mjs';
import { streamedChat } from '../workloads.mjs';
import { modelRow } from './gateway-process.mjs';
import { collectGarbage } from './inspector.mjs';
import {
  inUseLine,
  readMemory,
  readRestSeries,
  restLine,
  seriesNote,
  watchMemory,
} from './memory.mjs';
import { atMost, milliseconds, none } from './table.mjs';

const STREAMS = 1_000;
/** The mock vendor writes one chunk every 50 ms for model names with this prefix. */
const MODEL = 'paced-streams';
const CHUNKS_PER_SECOND = 20;
const RAMP_MS = 2_000;
const MEMORY_EVERY_MS = 1_000;
const MAX_GAP_MS = 100;
const MAX_GROWTH_BYTES = 150_000_000;

/** A thousand concurrent streams: none may fail or stall, and their memory must be released. */
export async function runStreams(soak) {
  const { streamSeconds, restSeconds } = soak.settings;
  const vendor = await soak.startVendor();
  const gateway = await soak.startGateway({
    providers: { bench: vendor.url },
    models: [modelRow(MODEL)],
  });
  await soak.warmUp(gateway);
  const before = readMemory(gateway);

  const gaps = new MillisecondHistogram();
  const workload = streamedChat(MODEL, streamSeconds * CHUNKS_PER_SECOND);
  const driver = new Driver(gateway.target, workload, { connections: STREAMS });
  const watch = watchMemory(gateway, MEMORY_EVERY_MS);
  const onGap = (ms) => gaps.add(ms);
  await driver.parallelStreams({ streams: STREAMS, rampMs: RAMP_MS, onGap });
  const peak = Math.max(...watch.stop().map(({ bytes }) => bytes));
  const failures = await soak.finish([driver]);

  const series = await readRestSeries(gateway, restSeconds);
  const inUse = await collectGarbage(gateway);
  return {
    lines: [
      none(`of ${STREAMS} streams of ${streamSeconds} s at once, failed`, failures),
      atMost('gap p99', gaps.percentile(0.99), MAX_GAP_MS, milliseconds),
      atMost('memory growth to the peak', peak - before, MAX_GROWTH_BYTES, megabytes),
      restLine(before, series),
      inUseLine('after the load', inUse),
      ...(await soak.checkBooks(gateway)),
    ],
    notes: [seriesNote(series)],
    series: { before, peak, after: series },
  };
}

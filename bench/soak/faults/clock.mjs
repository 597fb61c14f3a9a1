/**
 * Preloaded into a gateway (`--import`): shifts its clock by the seconds in the file named by
 * `FAULTS_CLOCK_FILE`. Timers are not affected, as when a machine's clock is set.
 */
import { readFileSync } from 'node:fs';
import { setInterval } from 'node:timers';

const POLL_MS = 100;
const RealDate = Date;
const realNow = RealDate.now.bind(RealDate);
let offsetMs = 0;

function readOffset() {
  try {
    offsetMs = (Number(readFileSync(process.env.FAULTS_CLOCK_FILE, 'utf8')) || 0) * 1_000;
  } catch {
    // Being written.
  }
}

const parent = process.ppid;

readOffset();
setInterval(() => {
  // The parent has exited, so no one would stop this process.
  if (process.ppid !== parent) process.exit(1);
  readOffset();
}, POLL_MS).unref();
RealDate.now = () => realNow() + offsetMs;
globalThis.Date = new Proxy(RealDate, {
  construct: (target, parameters, as) =>
    Reflect.construct(target, parameters.length === 0 ? [RealDate.now()] : parameters, as),
});

/**
 * Preloaded into the service: runs its embedded PostgreSQL under callgrind, which writes a file for each
 * process on exit into BENCH_CALLGRIND_FOLDER. Everything takes fifty times as long, so the service
 * waits longer before it considers its database dead.
 */
import childProcess from 'node:child_process';
import { syncBuiltinESMExports } from 'node:module';
import { basename } from 'node:path';
import timers from 'node:timers/promises';

const SLOWDOWN = 50;
const { spawn } = childProcess;
const VALGRIND = [
  '--quiet',
  '--tool=callgrind',
  `--callgrind-out-file=${process.env.BENCH_CALLGRIND_FOLDER}/%p`,
];

const later = (ms) => (ms >= 1_000 ? ms * SLOWDOWN : ms);
const { setTimeout } = globalThis;
globalThis.setTimeout = (work, ms, ...values) => setTimeout(work, later(ms), ...values);
const { setTimeout: wait } = timers;
timers.setTimeout = (ms, ...rest) => wait(later(ms), ...rest);
const timeout = AbortSignal.timeout.bind(AbortSignal);
AbortSignal.timeout = (ms) => timeout(later(ms));

childProcess.spawn = (program, parameters, options) =>
  basename(program) === 'postgres'
    ? spawn('valgrind', [...VALGRIND, program, ...parameters, '-c', 'autovacuum=off'], options)
    : spawn(program, parameters, options);
syncBuiltinESMExports();

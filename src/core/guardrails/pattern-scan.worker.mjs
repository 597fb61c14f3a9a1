import { setPriority } from 'node:os';
import { performance } from 'node:perf_hooks';
import { parentPort } from 'node:worker_threads';
import { RE2JS } from 're2js';

/**
 * Measures tenants' patterns, and searches texts for them, away from the event loop. Plain
 * JavaScript, because a worker's first file is loaded by Node alone, in tests as well.
 */

// With few cores the event loop takes precedence. On Linux each thread has its own priority;
// elsewhere this would be the whole process's.
if (process.platform === 'linux') setPriority(10);

/** A compiled pattern keeps up to 8 MB of states, so only a few are remembered. */
const MAX_COMPILED = 16;
const compiled = new Map();

const FLAGS = { i: RE2JS.CASE_INSENSITIVE, m: RE2JS.MULTILINE, s: RE2JS.DOTALL };

function compile({ pattern, flags }) {
  const key = `${flags}/${pattern}`;
  const known = compiled.get(key);
  if (known) return known;
  if (compiled.size >= MAX_COMPILED) compiled.delete(compiled.keys().next().value);
  const bits = [...flags].reduce((sum, flag) => sum | FLAGS[flag], 0);
  const made = RE2JS.compile(pattern, bits);
  compiled.set(key, made);
  return made;
}

/** The first match in any of the texts, as `{ start, end }`. */
function search(pattern, { texts, from, wantsPlace }) {
  const expression = compile(pattern);
  for (const text of texts) {
    if (!expression.test(text)) continue;
    if (!wantsPlace) return { start: 0, end: 0 };
    const matcher = expression.matcher(text);
    if (matcher.find(from)) return { start: matcher.start(), end: matcher.end() };
  }
  return undefined;
}

/** Program size and compile time of a pattern; undefined when it is invalid. */
function measure({ pattern, flags }) {
  try {
    const times = [1, 2].map(() => {
      compiled.clear();
      const startedMs = performance.now();
      compile({ pattern, flags });
      return performance.now() - startedMs;
    });
    // The first one may have waited for something else.
    return { size: compile({ pattern, flags }).programSize(), compileMs: Math.min(...times) };
  } catch {
    return undefined;
  }
}

parentPort.on('message', (job) => {
  const answer =
    job.kind === 'measure'
      ? job.patterns.map(measure)
      : job.patterns.map((pattern) => search(pattern, job));
  parentPort.postMessage(answer);
});

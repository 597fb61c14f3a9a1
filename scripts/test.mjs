/**
 * `npm test`: checks types, lint and format and runs every suite. Arguments go to Jest. The last line
 * is `N passed, N failed`; each check counts as one test.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { ensureInstalled } from './ensure-installed.mjs';
import { PROJECT_ROOT } from './project-root.mjs';
import { runScript, secondsSince } from './run-program.mjs';

const CHECKS = ['typecheck', 'lint', 'format:check'];
/** Checks that need the console's packages and its generated API types. */
const CHECKS_OF_CONSOLE = ['typecheck:console', 'lint:console'];
/** Gives a check a third of a suite's CPU share under contention. */
const CHECKS_NICENESS = 5;
/**
 * Disables garbage collection in checks written in Go: they have little garbage, and collecting it took
 * a third of their CPU time.
 */
const CHECKS_ENVIRONMENT = { GOGC: 'off' };

process.chdir(PROJECT_ROOT);
const total = { passed: 0, failed: 0 };
try {
  const say = (line) => console.log(line);
  const ofConsole = { root: join(PROJECT_ROOT, 'console'), of: 'the console', say };
  // In parallel, because npm uses one core. If the console's fails, its build reports why.
  await Promise.all([ensureInstalled({ say }), ensureInstalled(ofConsole).catch(() => undefined)]);
  // Checks use the time that suites spend waiting, at a lower priority.
  const [checks, report] = await Promise.all([runChecks(), runSuites(process.argv.slice(2))]);
  add(checks);
  add(sumOf(report));
} catch (error) {
  console.error(error.message);
  total.failed++;
}
if (!isOnPath('redis-server')) {
  console.log('Left out: suites that need Redis, because there is no redis-server on the PATH');
}
if (!process.env.CHROMIUM && !['chromium', 'chromium-browser', 'google-chrome'].some(isOnPath)) {
  console.log('Left out: the console in a browser, because there is no chromium on the PATH');
}
process.exitCode = total.failed === 0 ? 0 : 1;
console.log(`${total.passed} passed, ${total.failed} failed`);

function add({ passed, failed }) {
  total.passed += passed;
  total.failed += failed;
}

async function runChecks() {
  const results = (await Promise.all([runAll(CHECKS), runChecksOfConsole()])).flat();
  const passed = results.filter(Boolean).length;
  return { passed, failed: results.length - passed };
}

function runAll(checks) {
  return Promise.all(checks.map(runCheck));
}

async function runChecksOfConsole() {
  const isBuilt = await runCheck('build:console');
  return [isBuilt, ...(await runAll(CHECKS_OF_CONSOLE))];
}

async function runCheck(name) {
  const startedAtMs = Date.now();
  const { succeeded, output } = await runScript(name, [], {
    env: CHECKS_ENVIRONMENT,
    niceness: CHECKS_NICENESS,
  });
  console.log(`${name} ${succeeded ? 'passed' : 'failed'} (${secondsSince(startedAtMs)})`);
  if (!succeeded) {
    console.log(output.trimEnd());
  }
  return succeeded;
}

async function runSuites(parameters) {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-jest-'));
  const reportFile = join(folder, 'report.json');
  try {
    const { succeeded } = await runScript(
      'jest',
      ['--json', `--outputFile=${reportFile}`, ...parameters],
      { show: true },
    );
    if (!existsSync(reportFile)) return { succeeded, suites: [] };
    const { testResults } = JSON.parse(readFileSync(reportFile, 'utf8'));
    return { succeeded, suites: testResults.map(countSuite) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function countSuite({ name, status, assertionResults }) {
  const count = (wanted) => assertionResults.filter((test) => wanted.includes(test.status)).length;
  const failed = count(['failed']);
  return {
    name,
    passed: count(['passed']),
    // A suite that failed to load has no failed test.
    failed: status === 'failed' ? Math.max(failed, 1) : failed,
    leftOut: count(['pending', 'skipped', 'todo']),
  };
}

function sumOf({ succeeded, suites }) {
  const sum = (key) => suites.reduce((total, suite) => total + suite[key], 0);
  const leftOut = sum('leftOut');
  if (leftOut > 0) console.log(`Left out: ${leftOut} tests skipped by suites`);
  const failed = sum('failed');
  // Jest can fail without a failing test, for example when it finds none.
  return { passed: sum('passed'), failed: succeeded ? failed : Math.max(failed, 1) };
}

function isOnPath(program) {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return folders.some((folder) => existsSync(join(folder, program)));
}

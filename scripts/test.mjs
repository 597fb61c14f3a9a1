/**
 * `npm test`: types, lint, format and every suite. Arguments go to Jest. The last line is
 * `N passed, N failed`; each of the checks counts as one test.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { ensureInstalled } from './ensure-installed.mjs';
import { PROJECT_ROOT } from './project-root.mjs';
import { runNpm, secondsSince } from './run-program.mjs';

const CHECKS = ['typecheck', 'lint', 'format:check'];
/** They need its packages, and the types that its build makes of the API's description. */
const CHECKS_OF_CONSOLE = ['typecheck:console', 'lint:console'];
/** A third of a suite's share, when all want the processors at once. */
const CHECKS_NICENESS = 5;

process.chdir(PROJECT_ROOT);
const total = { passed: 0, failed: 0 };
try {
  await ensureInstalled({ say: (line) => console.log(line) });
  // Suites that wait leave the processors to the checks, which in turn hold up no suite.
  const results = await Promise.all([runChecks(), runSuites(process.argv.slice(2))]);
  results.forEach(add);
} catch (error) {
  console.error(error.message);
  total.failed++;
}
if (!isOnPath('redis-server')) {
  console.log('Left out: what needs Redis, since there is no redis-server on the PATH');
}
if (!process.env.CHROMIUM && !['chromium', 'chromium-browser', 'google-chrome'].some(isOnPath)) {
  console.log('Left out: the console in a browser, since there is no chromium on the PATH');
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
  const { succeeded, output } = await runNpm(['run', '--silent', name], {
    cwd: PROJECT_ROOT,
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
    const { succeeded } = await runNpm(
      ['run', '--silent', 'jest', '--', '--json', `--outputFile=${reportFile}`, ...parameters],
      { cwd: PROJECT_ROOT, show: true },
    );
    return count(succeeded, reportFile);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function count(succeeded, reportFile) {
  if (!existsSync(reportFile)) {
    return { passed: 0, failed: 1 };
  }
  const report = JSON.parse(readFileSync(reportFile, 'utf8'));
  const failed = report.numFailedTests + report.numRuntimeErrorTestSuites;
  if (report.numPendingTests + report.numTodoTests > 0) {
    console.log(
      `Left out: ${report.numPendingTests + report.numTodoTests} tests skipped by suites`,
    );
  }
  // Jest may fail without a failing test, for example when it finds none.
  return { passed: report.numPassedTests, failed: succeeded ? failed : Math.max(failed, 1) };
}

function isOnPath(program) {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return folders.some((folder) => existsSync(join(folder, program)));
}

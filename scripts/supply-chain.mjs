/**
 * Lists the parts of the service and its console from their package-lock.json:
 *   npm run sbom         prints a CycloneDX document as JSON
 *   npm run licences     lists the licences of shipped packages; fails on one that is not allowed
 *   npm run audit:lock   compares shipped packages with the registry's advisories, or, if it has none,
 *                        with those in scripts/advisories.json; fails on an advisory not listed there
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { satisfies } from 'semver';
import { PROJECT_ROOT } from './project-root.mjs';
import { runNpm } from './run-program.mjs';

/** Licences that allow running the service and distributing its image. */
const ALLOWED_LICENCES = new Set([
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'ISC',
  'MIT',
  'PostgreSQL',
  'Python-2.0',
  'Unlicense',
]);

/** The console's runtime packages are bundled into its files and shipped with them. */
const FOLDERS = ['.', 'console'];

const AUDIT_LIMIT_MS = 60_000;

/** Returns each shipped package by name, including optional ones. */
export function shippedPackages(root = PROJECT_ROOT) {
  return FOLDERS.flatMap((folder) => packagesOf(join(root, folder))).sort((one, other) =>
    one.name.localeCompare(other.name, 'en'),
  );
}

function packagesOf(folder) {
  const { packages } = readJson(join(folder, 'package-lock.json'));
  return Object.entries(packages)
    .filter(([place, { dev, devOptional }]) => place !== '' && !dev && !devOptional)
    .map(([place, { version, license, integrity, optional = false }]) => ({
      name: place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length),
      version,
      licence: license ?? licenceOf(join(folder, place)),
      integrity,
      optional,
    }));
}

/** Returns shipped packages with a licence that is not allowed. */
export function unknownLicences(packages) {
  return packages.filter(({ licence }) => !isAllowed(licence));
}

/** Returns the listed advisories that affect one of the packages. */
export function knownAdvisories(packages, advisories = readAdvisories()) {
  return advisories.filter(({ name, range }) =>
    packages.some((one) => one.name === name && satisfies(one.version, range)),
  );
}

/**
 * Renders shipped packages as a CycloneDX document. `npm sbom --omit=dev` leaves out packages that
 * development packages also need.
 */
export function cycloneDx(packages) {
  const { name, version } = readJson(join(PROJECT_ROOT, 'package.json'));
  const components = new Map(packages.map((one) => [purlOf(one), componentOf(one)]));
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: { component: { type: 'application', name, version, 'bom-ref': name } },
    components: [...components.values()],
  };
}

function componentOf(one) {
  const { name, version, licence, integrity, optional } = one;
  const [, algorithm, digest] = /^(sha\d+)-(.+)$/.exec(integrity ?? '') ?? [];
  return {
    type: 'library',
    name,
    version,
    'bom-ref': purlOf(one),
    purl: purlOf(one),
    scope: optional ? 'optional' : 'required',
    ...(licence && { licenses: [{ expression: licence }] }),
    ...(digest && {
      hashes: [
        {
          alg: algorithm.replace('sha', 'SHA-'),
          content: Buffer.from(digest, 'base64').toString('hex'),
        },
      ],
    }),
  };
}

function purlOf({ name, version }) {
  return `pkg:npm/${name.replace('@', '%40')}@${version}`;
}

function readAdvisories() {
  return readJson(join(PROJECT_ROOT, 'scripts', 'advisories.json')).advisories;
}

/** Older packages declare it differently, and packages of other systems are not installed. */
function licenceOf(folder) {
  let manifest;
  try {
    manifest = readJson(join(folder, 'package.json'));
  } catch {
    return undefined;
  }
  const { license, licenses } = manifest;
  return license?.type ?? license ?? licenses?.map(({ type }) => type).join(' OR ');
}

/** `(MIT OR GPL-2.0)` is allowed if either is, `MIT AND ISC` if both are. */
function isAllowed(licence) {
  // Packages for other systems have the licence of the installed variant.
  if (licence === undefined) return true;
  const words = licence.replace(/[()]/g, '');
  return words
    .split(' OR ')
    .some((one) => one.split(' AND ').every((each) => ALLOWED_LICENCES.has(each.trim())));
}

function printLicences() {
  const packages = shippedPackages();
  const counts = new Map();
  for (const { licence = 'not installed here' } of packages) {
    counts.set(licence, (counts.get(licence) ?? 0) + 1);
  }
  for (const { name, version, licence = 'not installed here' } of packages) {
    console.log(`${licence.padEnd(20)} ${name}@${version}`);
  }
  console.log([...counts].map(([licence, count]) => `${licence}: ${count}`).join(', '));
  fail(unknownLicences(packages).map(({ name, licence }) => `${name} has the licence ${licence}`));
}

async function audit() {
  const asked = await askRegistry();
  const source = asked ? "the registry's advisories" : 'scripts/advisories.json';
  const found = asked ?? knownAdvisories(shippedPackages());
  const accepted = new Set(
    readAdvisories()
      .filter(({ accepted: reason }) => reason)
      .map(({ id }) => id),
  );
  for (const { id, name, range, severity, title } of found) {
    const mark = accepted.has(id) ? ' (accepted)' : '';
    console.log(`${severity.padEnd(9)} ${name} ${range}: ${title} ${id}${mark}`);
  }
  console.log(`${found.length} advisories hold, by ${source}`);
  fail(found.filter(({ id }) => !accepted.has(id)).map(({ id, name }) => `${name}: ${id}`));
}

/** Returns advisories from the registry; undefined when it has none. */
async function askRegistry() {
  const answers = await Promise.all(FOLDERS.map(askRegistryAbout));
  if (answers.includes(undefined)) return undefined;
  return [...new Map(answers.flat().map((one) => [`${one.id} ${one.name}`, one])).values()];
}

async function askRegistryAbout(folder) {
  const parameters = ['audit', '--json', '--omit=dev', '--package-lock-only', '--loglevel=silent'];
  const answer = runNpm(parameters, { cwd: join(PROJECT_ROOT, folder) });
  const tooLate = new Promise((resolve) => setTimeout(resolve, AUDIT_LIMIT_MS, {}).unref());
  const { output = '' } = await Promise.race([answer, tooLate]);
  let report;
  try {
    report = JSON.parse(output);
  } catch {
    return undefined;
  }
  if (!report.vulnerabilities) return undefined;
  return Object.values(report.vulnerabilities)
    .flatMap(({ via }) => via)
    .filter((via) => typeof via === 'object')
    .map(({ url, name, range, severity, title }) => ({
      id: url.slice(url.lastIndexOf('/') + 1),
      name,
      range,
      severity,
      title,
    }));
}

function fail(problems) {
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
}

function readJson(path) {
  return JSON.parse(readFileSync(path, 'utf8'));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , command] = process.argv;
  if (command === 'sbom') console.log(JSON.stringify(cycloneDx(shippedPackages()), null, 2));
  else if (command === 'licences') printLicences();
  else if (command === 'audit') await audit();
  else {
    console.error('Usage: node scripts/supply-chain.mjs sbom | licences | audit');
    process.exitCode = 1;
  }
}

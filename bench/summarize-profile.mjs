/**
 * `node bench/summarize-profile.mjs FILE…`: summarizes CPU profiles in microseconds per request by
 * group, by caller of Node's own code, and by function.
 */
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { median } from './statistics.mjs';

const TOP_FUNCTIONS = 40;

for (const file of process.argv.slice(2)) summarize(file);

function summarize(file) {
  const profile = JSON.parse(readFileSync(file, 'utf8'));
  const nodes = withParents(profile.nodes);
  const selfOf = new Map();
  // A late sample was taken after another program had the core.
  const longest = 2 * median(profile.timeDeltas);
  for (const [index, id] of profile.samples.entries()) {
    const microseconds = Math.min(profile.timeDeltas[index], longest);
    selfOf.set(id, (selfOf.get(id) ?? 0) + microseconds);
  }

  const bySelf = new Map();
  const byCaller = new Map();
  const byFunction = new Map();
  let busy = 0;
  for (const [id, microseconds] of selfOf) {
    const node = nodes.get(id);
    const group = groupOf(node.callFrame);
    if (group === '(idle)') continue;
    busy += microseconds;
    add(bySelf, group, microseconds);
    add(byCaller, callerGroupOf(node), microseconds);
    add(byFunction, describe(node), microseconds);
  }

  const requests = profile.requests ?? 1;
  console.log(`\n# ${basename(file)}: ${requests} requests, ${perRequest(busy)} µs each\n`);
  print('by group, self time', bySelf);
  print("by group, Node's own code counted for its caller", byCaller);
  print('by function, self time', byFunction, TOP_FUNCTIONS);

  function print(title, totals, limit = Infinity) {
    console.log(`## ${title}\n`);
    const sorted = [...totals].sort(([, one], [, other]) => other - one).slice(0, limit);
    for (const [name, microseconds] of sorted) {
      const share = ((100 * microseconds) / busy).toFixed(1);
      if (Number(share) < 0.3) continue;
      console.log(`${perRequest(microseconds).padStart(9)} µs ${share.padStart(5)} %  ${name}`);
    }
    console.log('');
  }

  function perRequest(microseconds) {
    return (microseconds / requests).toFixed(1);
  }
}

function withParents(list) {
  const nodes = new Map(list.map((node) => [node.id, node]));
  for (const node of list) {
    for (const child of node.children ?? []) nodes.get(child).parent = node;
  }
  return nodes;
}

/** Returns the nearest group up the stack that is a package or our own code. */
function callerGroupOf(node) {
  const own = groupOf(node.callFrame);
  if (own === '(garbage collector)' || own === '(program)') return own;
  for (let at = node; at !== undefined; at = at.parent) {
    const group = groupOf(at.callFrame);
    if (!group.startsWith('node:') && !group.startsWith('(')) return group;
  }
  return own.startsWith('node:') ? own : '(native)';
}

function groupOf({ url, functionName }) {
  // undici's HTTP parser.
  if (url.startsWith('wasm:')) return 'undici';
  if (url === '') {
    const isMarker = /^\((idle|program|garbage collector)\)$/.test(functionName);
    return isMarker ? functionName : '(native)';
  }
  const packageName = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1];
  if (packageName !== undefined) return packageName;
  if (url.startsWith('node:')) {
    return /^node:(?:internal\/)?_?(http|net|stream|timers|buffer|events|crypto)/.test(url)
      ? `node:${RegExp.$1}`
      : 'node: others';
  }
  const ownFolder = /\/dist\/src\/(.+)\/[^/]+$/.exec(url)?.[1];
  return ownFolder === undefined ? basename(url) : `src/${ownFolder}`;
}

function describe(node) {
  const { functionName, url, lineNumber } = node.callFrame;
  if (url === '') {
    const caller = callerGroupOf(node);
    return caller === functionName ? functionName : `${functionName}  for ${caller}`;
  }
  const place = url.replace(/^.*\/node_modules\//, '').replace(/^file:.*\/(?:dist|bench)\//, '');
  return `${functionName || '(anonymous)'}  ${place}:${lineNumber + 1}`;
}

function add(totals, name, microseconds) {
  totals.set(name, (totals.get(name) ?? 0) + microseconds);
}

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { delimiter, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { PROJECT_ROOT } from '../../scripts/project-root.mjs';

const CONFIGURATION = 'docker/haproxy/haproxy.cfg';
const START_LIMIT_MS = 10_000;

/**
 * Finds HAProxy on `PATH` or in a folder with its unpacked Debian packages.
 *
 * @param folder see `--balancer`
 * @returns undefined when there is none
 */
export function findBalancer(folder) {
  if (folder === undefined) {
    const folders = (process.env.PATH ?? '').split(delimiter);
    const program = folders.map((one) => join(one, 'haproxy')).find((file) => existsSync(file));
    return program && { program, environment: process.env };
  }
  const program = join(folder, 'usr/sbin/haproxy');
  if (!existsSync(program)) return undefined;
  const libraries = readdirSync(join(folder, 'usr/lib')).map((name) =>
    join(folder, 'usr/lib', name),
  );
  return { program, environment: { ...process.env, LD_LIBRARY_PATH: libraries.join(delimiter) } };
}

/** Starts it with the configuration of `docker/`, except addresses. @returns its URL and how to stop it */
export async function startBalancer({ program, environment }, { folder, gateways }) {
  const port = await findFreePort();
  const text = gateways.reduce(
    (configuration, address, index) => configuration.replace(`gateway-${index + 1}:3000`, address),
    readFileSync(join(PROJECT_ROOT, CONFIGURATION), 'utf8')
      .replace('bind :3000', `bind 127.0.0.1:${port}`)
      // Each takes two open files, of which a shell has fewer than a container.
      .replace('maxconn 20000', 'maxconn 4000'),
  );
  const file = join(folder, 'haproxy.cfg');
  writeFileSync(file, text);
  // In the foreground, so that it exits with its process.
  const child = spawn(program, ['-db', '-f', file], { env: environment, stdio: 'inherit' });
  const exited = once(child, 'exit');
  const limitMs = Date.now() + START_LIMIT_MS;
  while (!(await isOpen(port))) {
    if (child.exitCode !== null || Date.now() > limitMs) throw new Error('HAProxy did not start');
    await wait(50);
  }
  return {
    url: `http://127.0.0.1:${port}`,
    async stop() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}

/** Returns a loopback port that is currently free. */
export async function findFreePort() {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

/** Returns whether this loopback port accepts connections. */
export async function isOpen(port) {
  const socket = net.connect({ host: '127.0.0.1', port });
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

import { writeFileSync } from 'node:fs';
import { WebSocket } from 'undici';

/** Microseconds between two samples. */
const SAMPLING_INTERVAL = 200;

/**
 * Profiles a server started with `--inspect` while `work` runs, and writes a file for Chrome's
 * developer tools and `summarize-profile.mjs`. `work` resolves to the number of `requests` it sent.
 */
export async function recordCpuProfile(server, file, work) {
  const inspector = await connect(/ws:\/\/\S+/.exec(server.printed())[0]);
  try {
    await inspector.call('Profiler.enable');
    await inspector.call('Profiler.setSamplingInterval', { interval: SAMPLING_INTERVAL });
    await inspector.call('Profiler.start');
    const { requests } = await work();
    const { profile } = await inspector.call('Profiler.stop');
    await inspector.call('Profiler.disable');
    writeFileSync(file, JSON.stringify({ ...profile, requests }));
  } finally {
    inspector.close();
  }
}

async function connect(url) {
  const socket = new WebSocket(url);
  const pending = new Map();
  let calls = 0;
  socket.addEventListener('message', ({ data }) => {
    const { id, result } = JSON.parse(data);
    pending.get(id)?.(result);
    pending.delete(id);
  });
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve);
    socket.addEventListener('error', () => reject(new Error(`No inspector at ${url}`)));
  });
  return {
    call(method, params = {}) {
      const id = ++calls;
      socket.send(JSON.stringify({ id, method, params }));
      return new Promise((resolve) => pending.set(id, resolve));
    },
    close: () => socket.close(),
  };
}

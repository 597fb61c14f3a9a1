import { once } from 'node:events';
import { WebSocket } from 'undici';

/** How many resources of each type a gateway's event loop waits for. */
export function readHandles(gateway) {
  return withInspector(gateway, async (socket) => {
    const counts = {};
    for (const type of await evaluate(socket, 'process.getActiveResourcesInfo()')) {
      counts[type] = (counts[type] ?? 0) + 1;
    }
    return counts;
  });
}

/**
 * Forces a garbage collection. Resolves to the bytes that are in use after it, and to those that are
 * resident: what exceeds the use is kept by V8 and the allocator for what may come, and not lost.
 * Only for the end of a measurement, since memory starts anew from lower down.
 */
export function collectGarbage(gateway) {
  return withInspector(gateway, async (socket) => {
    // The second collection takes what the finalizers of the first have let go.
    await call(socket, 'HeapProfiler.collectGarbage');
    await call(socket, 'HeapProfiler.collectGarbage');
    const { heapUsed, external, rss } = await evaluate(socket, 'process.memoryUsage()');
    return { heapBytes: heapUsed, bufferBytes: external, residentBytes: rss };
  });
}

/** The session is closed at once, since it would show up among the connections. */
async function withInspector({ inspectorUrl }, work) {
  const socket = new WebSocket(inspectorUrl);
  await once(socket, 'open');
  try {
    return await work(socket);
  } finally {
    const closed = once(socket, 'close');
    socket.close();
    await closed;
  }
}

async function evaluate(socket, expression) {
  const options = { expression, returnByValue: true };
  const { result } = await call(socket, 'Runtime.evaluate', options);
  return result.value;
}

/** One call at a time: no other message comes in between, as no domain is enabled. */
async function call(socket, method, params = {}) {
  const answered = once(socket, 'message');
  socket.send(JSON.stringify({ id: 1, method, params }));
  const [{ data }] = await answered;
  const { result, error } = JSON.parse(data);
  if (error) throw new Error(`${method}: ${error.message}`);
  return result;
}

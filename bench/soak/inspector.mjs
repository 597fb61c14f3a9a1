import { once } from 'node:events';
import { WebSocket } from 'undici';

/** Counts the resources of each type that a gateway's event loop waits for. */
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
 * Forces a garbage collection. Resolves to the bytes in use and the resident bytes. The difference is
 * memory that V8 and the allocator keep for reuse, not a leak. Use only at the end of a measurement,
 * since memory then grows again from a lower level.
 */
export function collectGarbage(gateway) {
  return withInspector(gateway, async (socket) => {
    // The second collection frees what finalizers of the first have released.
    await call(socket, 'HeapProfiler.collectGarbage');
    await call(socket, 'HeapProfiler.collectGarbage');
    const { heapUsed, external, rss } = await evaluate(socket, 'process.memoryUsage()');
    return { heapBytes: heapUsed, bufferBytes: external, residentBytes: rss };
  });
}

/** Closes the session at once, since it would count as a connection. */
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

/** Makes one call at a time. No other message arrives, because no domain is enabled. */
async function call(socket, method, params = {}) {
  const answered = once(socket, 'message');
  socket.send(JSON.stringify({ id: 1, method, params }));
  const [{ data }] = await answered;
  const { result, error } = JSON.parse(data);
  if (error) throw new Error(`${method}: ${error.message}`);
  return result;
}

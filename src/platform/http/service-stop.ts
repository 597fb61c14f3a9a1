import type { ServerResponse } from 'node:http';

/** Event of a response: the service ends before it does, and what is to be told is to be told now. */
export const SERVICE_STOPS = 'serviceStops';

const stopped = new WeakSet<ServerResponse>();

/** Lets whoever works on a response know that its connection is about to be cut by the service. */
export function announceStop(response: ServerResponse): void {
  stopped.add(response);
  response.emit(SERVICE_STOPS);
}

/** Whether the work on a response was broken off by the service, and not by its caller. */
export function isStoppedByService(response: ServerResponse): boolean {
  return stopped.has(response);
}

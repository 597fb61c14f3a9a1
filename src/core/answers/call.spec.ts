import { describe, expect, it, jest } from '@jest/globals';
import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { callerGoneSignal } from './call.js';

function responseOf(state: Partial<ServerResponse> = {}): ServerResponse & EventEmitter {
  return Object.assign(new EventEmitter(), {
    destroyed: false,
    writableFinished: false,
    ...state,
  }) as unknown as ServerResponse & EventEmitter;
}

describe(callerGoneSignal.name, () => {
  it('fires once for each listener when the connection closes early', () => {
    const response = responseOf();
    const signal = callerGoneSignal(response);
    const [stays, leaves] = [jest.fn(), jest.fn()];
    signal.addEventListener('abort', stays);
    signal.addEventListener('abort', leaves);
    signal.removeEventListener('abort', leaves);
    signal.removeEventListener('abort', () => undefined);
    expect(signal.aborted).toBe(false);
    response.emit('close');
    response.emit('close');
    expect(signal.aborted).toBe(true);
    expect(stays).toHaveBeenCalledTimes(1);
    expect(leaves).not.toHaveBeenCalled();
  });

  it('does not fire after a finished answer', () => {
    const response = responseOf({ writableFinished: true });
    const signal = callerGoneSignal(response);
    response.emit('close');
    expect(signal.aborted).toBe(false);
  });

  it('has fired already for a closed connection', () => {
    expect(callerGoneSignal(responseOf({ destroyed: true })).aborted).toBe(true);
  });

  it('lets a listener remove itself while it fires', () => {
    const response = responseOf();
    const signal = callerGoneSignal(response);
    const second = jest.fn();
    const first = (): void => signal.removeEventListener('abort', first);
    signal.addEventListener('abort', first);
    signal.addEventListener('abort', second);
    response.emit('close');
    expect(second).toHaveBeenCalledTimes(1);
  });
});

import { expect } from '@jest/globals';
import { readAvailable } from './streamed-answer.js';

const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** The parts of an HTTP answer, from any client, that error checks need. */
export interface AnswerParts {
  status: number;
  header(name: string): string | null | undefined;
  body: string;
}

export async function partsOf(response: Response): Promise<AnswerParts> {
  return {
    status: response.status,
    header: (name) => response.headers.get(name),
    body: (await readAvailable(response)).body,
  };
}

/** Returns the answer's id after checking that it is a UUIDv4 and that both headers agree. */
export function requestIdOf({ header }: Pick<AnswerParts, 'header'>): string {
  const id = header('x-request-id') ?? '';
  expect(id).toMatch(UUID_V4);
  expect(header('request-id')).toBe(id);
  return id;
}

/** Checks that an answer is exactly the interface's error and returns its id. */
export function expectError(
  answer: AnswerParts,
  status: number,
  type: string,
  param: string,
): string {
  expect([answer.status, answer.body]).toEqual([status, expect.stringMatching(/^{"error":{/)]);
  expect(answer.header('content-type')).toMatch(/^application\/json/);
  const body = JSON.parse(answer.body) as { error: { message: string } };
  expect(body).toEqual({ error: { message: expect.any(String), type, code: status, param } });
  expect(body.error.message.length).toBeGreaterThan(10);
  expect(body.error.message.length).toBeLessThan(1_000);
  return requestIdOf(answer);
}

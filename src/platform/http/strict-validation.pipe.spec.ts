import { describe, expect, it } from '@jest/globals';
import { IsObject, IsOptional, IsString } from 'class-validator';
import { processorMsOf } from '../../../test/support/processor-ms.js';
import { StrictValidationPipe } from './strict-validation.pipe.js';

class NoteDto {
  @IsString()
  name!: string;

  @IsOptional()
  @IsObject()
  labels?: Record<string, unknown>;
}

const pipe = new StrictValidationPipe({
  transform: true,
  whitelist: true,
  forbidNonWhitelisted: true,
});
const read = (body: unknown): Promise<unknown> =>
  pipe.transform(body, { type: 'body', metatype: NoteDto });
const manyMembers = Object.fromEntries(Array.from({ length: 99_000 }, (_, i) => [`k${i}`, 'a']));

describe(StrictValidationPipe.name, () => {
  it('creates the DTO of a body', async () => {
    const dto = await read({ name: 'a', labels: { b: [1, { c: null }] } });
    expect(dto).toBeInstanceOf(NoteDto);
    expect(dto).toEqual({ name: 'a', labels: { b: [1, { c: null }] } });
  });

  it.each([
    ['a wrong type', { name: 1 }],
    ['an unknown field', { name: 'a', other: 1 }],
    ['a field of an odd name', JSON.parse('{"name":"a","__proto__":{}}')],
    [
      'a nested field of an odd name',
      JSON.parse('{"name":"a","labels":{"b":[{"constructor":1}]}}'),
    ],
    ['many unknown fields', { name: 'a', ...manyMembers }],
    ['an array in place of a text', { name: Array.from({ length: 2_000_000 }, () => 1) }],
  ])('rejects %s', async (_, body) => {
    await expect(read(body)).rejects.toThrow();
  });

  it('takes linear time for many members', async () => {
    const tookMs = await processorMsOf(() => read({ name: 'a', labels: { ...manyMembers } }));
    // A quadratic check takes 10 s, this one 50 ms.
    expect(tookMs).toBeLessThan(4_000);
  });
});

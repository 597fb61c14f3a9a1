/** Chunks as a vendor's answer would give them; an error among them breaks the source off. */
export async function* sourceOf(...chunks: (Buffer | string | Error)[]): AsyncGenerator<Buffer> {
  for (const chunk of chunks) {
    await new Promise((resolve) => setImmediate(resolve));
    if (chunk instanceof Error) throw chunk;
    yield Buffer.from(chunk);
  }
}

/** Everything that a stream gives. */
export async function readAll(stream: AsyncIterable<unknown> | undefined): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream ?? []) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

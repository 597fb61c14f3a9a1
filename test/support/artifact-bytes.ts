/** Yields chunks like a vendor's answer; an error among them fails the source. */
export async function* sourceOf(...chunks: (Buffer | string | Error)[]): AsyncGenerator<Buffer> {
  for (const chunk of chunks) {
    await new Promise((resolve) => setImmediate(resolve));
    if (chunk instanceof Error) throw chunk;
    yield Buffer.from(chunk);
  }
}

/** Returns the whole stream. */
export async function readAll(stream: AsyncIterable<unknown> | undefined): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream ?? []) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

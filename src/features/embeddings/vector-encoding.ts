const BYTES_PER_FLOAT = 4;

/** Numbers as base64 of little-endian 32-bit floats. */
export function encodeFloats(vector: readonly number[]): string {
  const bytes = Buffer.allocUnsafe(vector.length * BYTES_PER_FLOAT);
  for (let index = 0; index < vector.length; index++) {
    bytes.writeFloatLE(vector[index]!, index * BYTES_PER_FLOAT);
  }
  return bytes.toString('base64');
}

/** The numbers in base64 of little-endian 32-bit floats. */
export function decodeFloats(base64: string): number[] {
  const bytes = Buffer.from(base64, 'base64');
  const vector: number[] = [];
  for (let offset = 0; offset < bytes.length; offset += BYTES_PER_FLOAT) {
    vector.push(bytes.readFloatLE(offset));
  }
  return vector;
}

// node check-receipt.mjs receipt.json jwks.json: verifies the signature and prints the receipt.
import { createPublicKey, verify } from 'node:crypto';
import { readFileSync } from 'node:fs';
const [{ jws }, { keys }] = process.argv.slice(2).map((file) => JSON.parse(readFileSync(file)));
const [header, payload, signature] = jws.split('.').map((part) => Buffer.from(part, 'base64url'));
const jwk = keys.find(({ kid }) => kid === JSON.parse(header).kid);
const key = createPublicKey({ key: jwk, format: 'jwk' });
const signed = Buffer.from(jws.slice(0, jws.lastIndexOf('.')));
if (!verify(null, signed, key, signature))
  throw new Error('The signature does not match the receipt.');
console.log(payload.toString());

// node check-receipt.mjs receipt.json jwks.json: prints the receipt if it is signed with one of the keys.
import { createPublicKey, verify } from 'node:crypto';
import { readFileSync } from 'node:fs';
const [{ jws }, { keys }] = process.argv.slice(2).map((file) => JSON.parse(readFileSync(file)));
const [header, payload, signature] = jws.split('.').map((part) => Buffer.from(part, 'base64url'));
const jwk = keys.find(({ kid }) => kid === JSON.parse(header).kid);
const key = createPublicKey({ key: jwk, format: 'jwk' });
const signed = Buffer.from(jws.slice(0, jws.lastIndexOf('.')));
if (!verify(null, signed, key, signature)) throw new Error('This is not what the key has signed.');
console.log(payload.toString());

// node check-receipt.mjs receipt.json jwks.json | node recompute-receipt.mjs: recomputes the charge.
import { readFileSync } from 'node:fs';
const { charge } = JSON.parse(readFileSync(0));
/** Converts USD to units of 10^-18 / 60,000, in which milliseconds at a price per minute are whole numbers. */
const price = (usd) => {
  const [whole, fraction = ''] = usd.split('.');
  return BigInt(whole + fraction.padEnd(18, '0')) * 60_000n;
};
const amount = (line) => (BigInt(line.quantity) * price(line.unit_price)) / BigInt(line.per);
const sum = charge.lines.reduce((total, line) => total + amount(line), 0n);
const rounded = Number((sum + price('0.000001') - 1n) / price('0.000001'));
const due = Math.ceil((rounded * (charge.byok_fee_percent ?? 100)) / 100);
const cost = due - charge.beyond_hold - charge.shortfall;
if (rounded !== charge.rounded || cost !== charge.cost)
  throw new Error('The receipt does not add up.');
console.log(`The receipt adds up: ${cost} credits were charged.`);

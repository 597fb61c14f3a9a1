import type { Vendor } from '../vendor.js';
import { SandboxAdapter } from './sandbox.adapter.js';

/** Inside the gateway: it has no address, no account and no variables of its own. */
export const sandbox: Vendor = {
  id: 'sandbox',
  name: 'Sandbox',
  type: 'openai',
  kinds: ['chat', 'embedding', 'speech', 'transcription', 'image', 'video'],
  isStandIn: true,
  baseUrl: () => '',
  account: () => ({ apiKey: undefined }),
  createAdapter: () => new SandboxAdapter(),
};

import { bootGateway, type BootedGateway } from './boot-gateway.js';
import { startFakeOpenAi, type FakeOpenAi } from './fake-openai.js';
import { writeOperatorFiles } from './operator-files.js';

export interface VendorSetUp {
  fake: FakeOpenAi;
  gateway: BootedGateway;
  close(): Promise<void>;
}

/** Short, so that a vendor's silence is noticed while a test waits. */
export const IDLE_MS = 600;

/**
 * The service with one vendor behind it, whose one model is `one/a`.
 *
 * @param pricing more prices, beside 1 credit a prompt token and 2 a completion token
 * @param environment more settings
 */
export async function bootWithVendor(
  pricing: Record<string, string> = {},
  environment: Record<string, string> = {},
): Promise<VendorSetUp> {
  const fake = await startFakeOpenAi();
  const files = await writeOperatorFiles({ one: fake.baseUrl }, [
    { id: 'one/a', pricing: { prompt: '0.000001', completion: '0.000002', ...pricing } },
  ]);
  const gateway = await bootGateway({
    ...files.environment,
    GATEWAY_BOOTSTRAP_CREDITS: '1000000000',
    GATEWAY_IDLE_TIMEOUT_MS: String(IDLE_MS),
    // Each case is to find its route as if it were the first.
    GATEWAY_COOLDOWN_MS: '1',
    ...environment,
  });
  return {
    fake,
    gateway,
    async close() {
      await gateway.close();
      await fake.close();
      await files.remove();
    },
  };
}

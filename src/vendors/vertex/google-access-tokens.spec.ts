import { describe, expect, it, jest } from '@jest/globals';
import { HOUR_MS } from '../../platform/time/dates.js';
import {
  fetchServiceAccountAccess,
  GoogleAccessTokens,
  type GrantedAccess,
} from './google-access-tokens.js';

/** Issues tokens `token-1`, `token-2`, … with a lifetime of an hour, on a clock that the test sets. */
function setUp() {
  const clock = { nowMs: 1_000_000 };
  let count = 0;
  const source = jest.fn(async (): Promise<GrantedAccess> => ({
    token: `token-${++count}`,
    expiresAtMs: clock.nowMs + HOUR_MS,
  }));
  return { clock, source, tokens: new GoogleAccessTokens(source, () => clock.nowMs) };
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe(GoogleAccessTokens.name, () => {
  it('fetches nothing before the first call, and one token for concurrent calls', async () => {
    const { source, tokens } = setUp();
    expect(source).not.toHaveBeenCalled();
    const accesses = await Promise.all([tokens.get(), tokens.get(), tokens.get()]);
    expect(accesses).toEqual([{ token: 'token-1' }, { token: 'token-1' }, { token: 'token-1' }]);
    await tokens.get();
    expect(source).toHaveBeenCalledTimes(1);
  });

  it('refreshes in the background while the old token is valid', async () => {
    const { clock, source, tokens } = setUp();
    await tokens.get();
    clock.nowMs += HOUR_MS - 4 * 60_000;
    const [one, other] = await Promise.all([tokens.get(), tokens.get()]);
    expect([one, other]).toEqual([{ token: 'token-1' }, { token: 'token-1' }]);
    await settle();
    expect(source).toHaveBeenCalledTimes(2);
    expect(await tokens.get()).toEqual({ token: 'token-2' });
  });

  it('continues with the old token when the background refresh fails', async () => {
    const { clock, source, tokens } = setUp();
    await tokens.get();
    source.mockRejectedValueOnce(new Error('offline'));
    clock.nowMs += HOUR_MS - 4 * 60_000;
    await tokens.get();
    await settle();
    expect(await tokens.get()).toEqual({ token: 'token-1' });
  });

  it('waits for a new token when the old one has expired', async () => {
    const { clock, tokens } = setUp();
    await tokens.get();
    clock.nowMs += HOUR_MS - 10_000;
    expect(await tokens.get()).toEqual({ token: 'token-2' });
  });

  it('forgets a rejected token, but not its successor', async () => {
    const { source, tokens } = setUp();
    await tokens.get();
    tokens.forget('token-1');
    expect(await tokens.get()).toEqual({ token: 'token-2' });
    tokens.forget('token-1');
    await tokens.get();
    expect(source).toHaveBeenCalledTimes(2);
  });

  it('uses a token of unknown lifetime for a while', async () => {
    const { clock, source, tokens } = setUp();
    source.mockResolvedValueOnce({ token: 'endless', quotaProject: 'p' });
    expect(await tokens.get()).toEqual({ token: 'endless', quotaProject: 'p' });
    clock.nowMs += 60_000;
    expect(await tokens.get()).toEqual({ token: 'endless', quotaProject: 'p' });
    clock.nowMs += HOUR_MS;
    expect(await tokens.get()).toEqual({ token: 'token-1' });
  });

  it('reports missing credentials as an operator failure without details, and tries again', async () => {
    const { source, tokens } = setUp();
    source.mockRejectedValueOnce(new Error('bad key file: -----BEGIN PRIVATE KEY-----'));
    const failing = Promise.all([tokens.get(), tokens.get()]);
    await expect(failing).rejects.toMatchObject({
      failure: 'operator',
      message: 'no access token from the application default credentials: Error',
    });
    expect(source).toHaveBeenCalledTimes(1);
    expect(await tokens.get()).toEqual({ token: 'token-1' });
  });

  it('reports an invalid service account key without details or network calls', async () => {
    const key = JSON.stringify({
      client_email: 'me@p.iam.gserviceaccount.com',
      private_key: '-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----\n',
      token_uri: 'http://127.0.0.1:9/token',
    });
    const tokens = new GoogleAccessTokens(
      () => fetchServiceAccountAccess(key),
      Date.now,
      "the service account's key",
    );
    await expect(tokens.get()).rejects.toMatchObject({
      failure: 'operator',
      message: expect.stringMatching(
        /^no access token from the service account's key: ERR_[A-Z_]+$/,
      ),
    });
  });
});

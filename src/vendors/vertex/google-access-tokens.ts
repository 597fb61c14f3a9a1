import { UpstreamError } from '../upstream-error.js';
import { objectOf } from '../dialects/answer-json.js';
import { codeOf } from '../../platform/errors/thrown.js';

/** Credentials for a call to Google. */
export interface GoogleAccess {
  token: string;
  /** The project billed for a user's own credentials. */
  quotaProject?: string;
}

/** Access with an expiry. */
export interface GrantedAccess extends GoogleAccess {
  /** Unix milliseconds; undefined when the issuer does not say. */
  expiresAtMs?: number;
}

/** Fetches new access. */
export type AccessSource = () => Promise<GrantedAccess>;

/** A token this close to its expiry is refreshed while still in use. */
const REFRESH_AHEAD_MS = 5 * 60_000;

/** … and this close, it is no longer used, because it could expire in transit. */
const EXPIRED_AHEAD_MS = 30_000;

/** How long to use a token of unknown lifetime. */
const DEFAULT_LIFE_MS = 10 * 60_000;

/**
 * Caches one access token for all calls. It is fetched on the first call and refreshed in the background
 * before it expires. Calls wait only when there is no valid token, and then share one fetch.
 */
export class GoogleAccessTokens {
  private granted: { access: GoogleAccess; expiresAtMs: number } | undefined;
  private pending: Promise<GoogleAccess> | undefined;

  constructor(
    private readonly source: AccessSource,
    private readonly now: () => number = Date.now,
    private readonly origin = 'the application default credentials',
  ) {}

  /** @throws UpstreamError `operator` when the credentials are missing or rejected */
  async get(): Promise<GoogleAccess> {
    const leftMs = this.granted ? this.granted.expiresAtMs - this.now() : 0;
    if (!this.granted || leftMs <= EXPIRED_AHEAD_MS) return this.refresh();
    if (leftMs <= REFRESH_AHEAD_MS) {
      // The old token is still valid; callers that need the new one will see a failure.
      this.refresh().catch(() => undefined);
    }
    return this.granted.access;
  }

  /** Discards a token that Google rejected; the next call fetches another. */
  forget(token: string): void {
    if (this.granted?.access.token === token) this.granted = undefined;
  }

  private refresh(): Promise<GoogleAccess> {
    this.pending ??= this.fetch().finally(() => {
      this.pending = undefined;
    });
    return this.pending;
  }

  private async fetch(): Promise<GoogleAccess> {
    try {
      const { expiresAtMs = this.now() + DEFAULT_LIFE_MS, ...access } = await this.source();
      this.granted = { access, expiresAtMs };
      return access;
    } catch (error) {
      // The library's message may contain parts of a credential, so only the kind of error is reported.
      const kind = codeOf(error) ?? (error instanceof Error ? error.name : typeof error);
      throw new UpstreamError(
        {
          failure: 'operator',
          message: `no access token from ${this.origin}: ${kind}`,
        },
        { cause: error },
      );
    }
  }
}

const SCOPE = 'https://www.googleapis.com/auth/cloud-platform';

/**
 * Fetches access by the application default credentials, wherever the environment has them. They are
 * looked up each time, so that replaced ones are found.
 *
 * @param project avoids the library's own search for one, which may start programs and make calls
 */
export async function fetchDefaultAccess(project: string): Promise<GrantedAccess> {
  // The library is large and only needed when no token is configured.
  const { GoogleAuth } = await import('google-auth-library');
  const client = await new GoogleAuth({ scopes: [SCOPE], projectId: project }).getClient();
  const { token } = await client.getAccessToken();
  if (token == null || token === '') throw new Error('an empty token');
  const { expiry_date: expiresAtMs } = client.credentials;
  return {
    token,
    ...(client.quotaProjectId !== undefined && { quotaProject: client.quotaProjectId }),
    ...(expiresAtMs != null && { expiresAtMs }),
  };
}

/**
 * Fetches access by a service account's key. Uses only its name and private key, and always the vendor's
 * own token endpoint, whatever else the key contains.
 *
 * @param key JSON with `client_email` and `private_key`
 */
export async function fetchServiceAccountAccess(key: string): Promise<GrantedAccess> {
  const { JWT } = await import('google-auth-library');
  const { client_email: email, private_key: privateKey } = objectOf(JSON.parse(key));
  if (typeof email !== 'string' || typeof privateKey !== 'string') {
    throw new Error('a key without its account');
  }
  const client = new JWT({ email, key: privateKey, scopes: [SCOPE] });
  const { token } = await client.getAccessToken();
  if (token == null || token === '') throw new Error('an empty token');
  const { expiry_date: expiresAtMs } = client.credentials;
  return { token, ...(expiresAtMs != null && { expiresAtMs }) };
}

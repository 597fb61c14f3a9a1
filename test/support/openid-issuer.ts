import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';

const SCOPES = 'openid email profile groups';

/** A person's claims, without the subject. */
export type TestClaims = Record<string, unknown>;

/** A real OpenID provider on loopback where everybody logs in without a prompt. */
export class OpenidIssuer {
  readonly clientId = 'model-gateway';
  readonly clientSecret = 'the-secret-of-the-gateway-at-the-issuer';
  /** Claims by subject. */
  readonly people = new Map<string, TestClaims>();
  /** The subject of the next login. */
  subject = '';
  /** True when it accepts connections and closes them at once. */
  isUnavailable = false;
  codeSeconds = 60;
  private redirectUri = '';
  private handle: ((request: IncomingMessage, response: ServerResponse) => unknown) | undefined;

  private constructor(private readonly server: Server) {}

  static async start(): Promise<OpenidIssuer> {
    const server = createServer();
    const issuer = new OpenidIssuer(server);
    server.on('request', (request, response) => void issuer.answer(request, response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return issuer;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Registers the gateway as a client, with new keys that replace the old ones. */
  register(redirectUri = this.redirectUri): void {
    this.redirectUri = redirectUri;
    this.handle = this.makeProvider().callback();
  }

  /** Adds the person of the next login. */
  add(claims: TestClaims, subject: string = randomUUID()): string {
    this.people.set(subject, claims);
    this.subject = subject;
    return subject;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private provider: Provider | undefined;

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.isUnavailable) return void request.socket.destroy();
    if (request.url?.startsWith('/interaction/') && this.provider) {
      const login = { accountId: this.subject };
      await this.provider.interactionFinished(request, response, { login });
      return;
    }
    await this.handle?.(request, response);
  }

  private makeProvider(): Provider {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const key = { ...privateKey.export({ format: 'jwk' }), kid: randomUUID(), use: 'sig' };
    this.provider = new Provider(this.url, {
      jwks: { keys: [key] },
      clients: [
        {
          client_id: this.clientId,
          client_secret: this.clientSecret,
          redirect_uris: [this.redirectUri],
          token_endpoint_auth_method: 'client_secret_post',
        },
      ],
      cookies: { keys: ['a-key-for-the-cookies-of-the-issuer'] },
      scopes: SCOPES.split(' '),
      claims: {
        openid: ['sub'],
        email: ['email', 'email_verified'],
        profile: ['name'],
        groups: ['groups'],
      },
      features: { devInteractions: { enabled: false } },
      pkce: { required: () => true },
      ttl: { AuthorizationCode: () => this.codeSeconds },
      interactions: { url: (_, { uid }) => `/interaction/${uid}` },
      findAccount: (_, subject) => ({
        accountId: subject,
        claims: () => ({ sub: subject, ...this.people.get(subject) }),
      }),
      async loadExistingGrant({ oidc: { provider, client, session } }) {
        const { clientId } = client!;
        const known = session!.grantIdFor(clientId);
        if (known !== undefined) return provider.Grant.find(known);
        const grant = new provider.Grant({ clientId, accountId: session!.accountId! });
        grant.addOIDCScope(SCOPES);
        await grant.save();
        return grant;
      },
    });
    return this.provider;
  }
}

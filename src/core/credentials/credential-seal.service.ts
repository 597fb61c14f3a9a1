import { Inject, Injectable } from '@nestjs/common';
import { APP_CONFIG, type AppConfig } from '../../platform/config/app-config.js';
import { gatewaySecret } from '../../platform/config/gateway-secret.js';
import { SecretBox } from '../../platform/crypto/secret-box.js';

/** Seals the keys of credentials at rest, each for the id of its row. */
@Injectable()
export class CredentialSeal {
  private box: SecretBox | undefined;

  constructor(@Inject(APP_CONFIG) private readonly config: AppConfig) {}

  seal(key: string, credentialId: string): Buffer {
    return this.opened().seal(key, credentialId);
  }

  /** @throws UnsealError */
  unseal(sealedKey: Buffer, credentialId: string): string {
    return this.opened().unseal(sealedKey, credentialId);
  }

  /** On first use: without a configured secret one is made in the data folder. */
  private opened(): SecretBox {
    this.box ??= new SecretBox(gatewaySecret(this.config), 'provider-credential');
    return this.box;
  }
}

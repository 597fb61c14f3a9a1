import { Inject, Injectable } from '@nestjs/common';
import { APP_CONFIG } from '../../platform/config/app-config.js';
import { gatewaySecrets } from '../../platform/config/gateway-secret.js';
import { SecretBox } from '../../platform/crypto/secret-box.js';

type SecretConfig = Parameters<typeof gatewaySecrets>[0];

/** Encrypts credentials' keys, each bound to the id of its row. */
@Injectable()
export class CredentialCipher {
  private box: SecretBox | undefined;

  constructor(@Inject(APP_CONFIG) private readonly config: SecretConfig) {}

  encrypt(key: string, credentialId: string): Buffer {
    return this.secretBox().encrypt(key, credentialId);
  }

  /** @throws DecryptionError */
  decrypt(encryptedKey: Buffer, credentialId: string): string {
    return this.secretBox().decrypt(encryptedKey, credentialId);
  }

  /** Lazy, because without a configured secret one is created in the data folder. */
  private secretBox(): SecretBox {
    this.box ??= new SecretBox(() => gatewaySecrets(this.config), 'provider-credential');
    return this.box;
  }
}

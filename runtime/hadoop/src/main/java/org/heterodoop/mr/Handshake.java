package org.heterodoop.mr;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Over TCP both ends prove that they can read the secret file; the file's mode says who can. */
final class Handshake {
  private static final String ALGORITHM = "HmacSHA256";
  private static final int NONCE_BYTES = 32;

  private Handshake() {
  }

  static void run(Connection driver, byte[] secret) throws IOException {
    byte[] nonce = new byte[NONCE_BYTES];
    new SecureRandom().nextBytes(nonce);
    driver.send(Frame.HELLO, new Fields().add("nonce", nonce));
    Fields challenge = driver.receive().expect(Frame.CHALLENGE);
    if (!MessageDigest.isEqual(proof(secret, "driver", nonce), challenge.bytes("proof"))) {
      throw new UntrustedException("what listens at the driver's port does not know the secret");
    }
    byte[] theirs = challenge.bytes("nonce");
    if (theirs.length != NONCE_BYTES) {
      throw new ProtocolException("the driver's nonce has " + theirs.length + " bytes");
    }
    driver.send(Frame.PROOF, new Fields().add("proof", proof(secret, "task", theirs)));
  }

  static byte[] proof(byte[] secret, String who, byte[] nonce) {
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(new SecretKeySpec(secret, ALGORITHM));
      mac.update(who.getBytes(StandardCharsets.US_ASCII));
      return mac.doFinal(nonce);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }
}

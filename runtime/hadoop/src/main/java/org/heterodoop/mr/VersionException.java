package org.heterodoop.mr;

import java.io.IOException;

/** The driver speaks another version of the protocol. */
final class VersionException extends IOException {
  private static final long serialVersionUID = 1;

  VersionException(String theirs) {
    super("the driver speaks version " + theirs + " of the protocol, this plug-in version " + Frame.VERSION);
  }
}

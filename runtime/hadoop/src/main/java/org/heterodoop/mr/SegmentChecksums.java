package org.heterodoop.mr;

import java.util.zip.CRC32;

/** Checks the CRC-32 at the end of every segment while the bytes of file.out pass by, in pieces of any size. */
final class SegmentChecksums {
  private final MapOutputIndex index;
  private final CRC32 crc = new CRC32();
  private int segment = -1;
  private long bodyLeft;
  private int crcLeft;
  private int stored;

  SegmentChecksums(MapOutputIndex index) {
    this.index = index;
    next();
  }

  private void next() {
    segment++;
    crc.reset();
    stored = 0;
    crcLeft = MapOutputIndex.SEGMENT_CRC;
    bodyLeft = segment < index.partLengths.length ? index.partLengths[segment] - crcLeft : 0;
  }

  void update(byte[] bytes, int length) throws ProtocolException {
    for (int at = 0; at < length;) {
      if (segment == index.partLengths.length) {
        throw new ProtocolException("the map output goes on after its last segment");
      }
      if (bodyLeft > 0) {
        int n = (int) Math.min(bodyLeft, length - at);
        crc.update(bytes, at, n);
        bodyLeft -= n;
        at += n;
      } else {
        stored = stored << Byte.SIZE | bytes[at++] & 0xFF;
        if (--crcLeft == 0) {
          finishSegment();
        }
      }
    }
  }

  private void finishSegment() throws ProtocolException {
    if (stored != (int) crc.getValue()) {
      throw new ProtocolException("the map output has a wrong checksum in partition " + segment);
    }
    next();
  }

  void finish() throws ProtocolException {
    if (segment != index.partLengths.length) {
      throw new ProtocolException("the map output ends in partition " + segment);
    }
  }
}

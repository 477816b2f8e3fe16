package org.heterodoop.mr;

import java.nio.ByteBuffer;
import java.util.zip.CRC32;

/**
 * A checked file.out.index: where each partition's segment lies in file.out, as org.apache.hadoop.mapred.SpillRecord writes.
 *
 * <p>Three big-endian numbers a partition (start, bytes before compression, bytes in the file with the CRC), then a CRC-32.
 */
final class MapOutputIndex {
  static final int RECORD = 24;
  static final int CHECKSUM = 8;
  /** Of a segment in file.out: the CRC-32 at its end. */
  static final int SEGMENT_CRC = 4;
  /** Of a segment before compression: the two bytes that mark its end. */
  static final int EOF_MARK = 2;

  final long[] starts;
  final long[] rawLengths;
  final long[] partLengths;

  /** Raises ProtocolException unless the segments are plausible and cover `dataBytes` without a gap. */
  MapOutputIndex(byte[] bytes, int partitions, long dataBytes, boolean compressed) throws ProtocolException {
    if (bytes.length != size(partitions)) {
      throw new ProtocolException("the index has " + bytes.length + " bytes, not the " + size(partitions) + " of "
          + partitions + " partitions");
    }
    CRC32 crc = new CRC32();
    crc.update(bytes, 0, bytes.length - CHECKSUM);
    ByteBuffer in = ByteBuffer.wrap(bytes);
    if (in.getLong(bytes.length - CHECKSUM) != crc.getValue()) {
      throw new ProtocolException("the index has a wrong checksum");
    }
    starts = new long[partitions];
    rawLengths = new long[partitions];
    partLengths = new long[partitions];
    long end = 0;
    for (int i = 0; i < partitions; i++) {
      starts[i] = in.getLong();
      rawLengths[i] = in.getLong();
      partLengths[i] = in.getLong();
      if (starts[i] != end || !plausible(i, dataBytes - end, compressed)) {
        throw new ProtocolException("the index is wrong at partition " + i + ": start " + starts[i] + ", raw length "
            + rawLengths[i] + ", length " + partLengths[i]);
      }
      end += partLengths[i];
    }
    if (end != dataBytes) {
      throw new ProtocolException("the index covers " + end + " bytes of " + dataBytes);
    }
  }

  static long size(int partitions) {
    return (long) RECORD * partitions + CHECKSUM;
  }

  private boolean plausible(int i, long left, boolean compressed) {
    long body = partLengths[i] - SEGMENT_CRC;
    return partLengths[i] <= left && rawLengths[i] >= EOF_MARK
        && (compressed ? body > 0 : body == rawLengths[i]);
  }
}

package org.heterodoop.mr;

import java.io.IOException;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.DataInputBuffer;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.compress.CompressionCodec;
import org.apache.hadoop.mapred.IFile;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.Partitioner;
import org.apache.hadoop.mapred.lib.HashPartitioner;
import org.apache.hadoop.util.Progressable;

/**
 * heterodoop.verify: reads a file.out as a reducer would, with Hadoop's own reader, and checks order, partition and end.
 *
 * <p>A segment out of order is the one fault that no reducer notices: it groups wrongly and goes on.
 */
final class MapOutputVerifier {
  private static final int PROGRESS_EVERY = 1 << 16;

  private final Partitioner<Text, Text> partitioner = new HashPartitioner<>();
  private final Text.Comparator order = new Text.Comparator();
  private final JobConf job;
  private final CompressionCodec codec;
  private final Progressable progress;

  MapOutputVerifier(JobConf job, CompressionCodec codec, Progressable progress) {
    this.job = job;
    this.codec = codec;
    this.progress = progress;
  }

  void verify(FileSystem fs, Path data, MapOutputIndex index) throws IOException {
    for (int i = 0; i < index.starts.length; i++) {
      FSDataInputStream in = fs.open(data);
      in.seek(index.starts[i]);
      IFile.Reader<Text, Text> reader = new IFile.Reader<>(job, in, index.partLengths[i], codec, null);
      try {
        verify(reader, i, index.starts.length);
        if (reader.bytesRead != index.rawLengths[i]) {
          throw new ProtocolException("partition " + i + " has " + reader.bytesRead + " bytes of records, the index says "
              + index.rawLengths[i]);
        }
      } finally {
        reader.close();  // the stream too
      }
    }
  }

  private void verify(IFile.Reader<Text, Text> reader, int partition, int partitions) throws IOException {
    DataInputBuffer key = new DataInputBuffer();
    DataInputBuffer value = new DataInputBuffer();
    Text text = new Text();
    byte[] last = null;
    for (long n = 0; reader.nextRawKey(key); n++) {
      reader.nextRawValue(value);
      if (last != null && order.compare(last, 0, last.length, key.getData(), key.getPosition(), length(key)) > 0) {
        throw new ProtocolException("the map output is not sorted at record " + n + " of partition " + partition);
      }
      last = last != null && last.length == length(key) ? last : new byte[length(key)];
      System.arraycopy(key.getData(), key.getPosition(), last, 0, last.length);
      readText(value, text, partition, n);
      readText(key, text, partition, n);
      if (partitions > 1 && partitioner.getPartition(text, null, partitions) != partition) {
        throw new ProtocolException("a key of another partition lies in partition " + partition + " (record " + n + ")");
      }
      if (n % PROGRESS_EVERY == 0) {
        progress.progress();
      }
    }
  }

  private static void readText(DataInputBuffer in, Text text, int partition, long n) throws IOException {
    text.readFields(in);
    if (in.getPosition() != in.getLength()) {
      throw new ProtocolException("record " + n + " of partition " + partition + " is not a pair of Texts");
    }
  }

  private static int length(DataInputBuffer buffer) {
    return buffer.getLength() - buffer.getPosition();
  }
}

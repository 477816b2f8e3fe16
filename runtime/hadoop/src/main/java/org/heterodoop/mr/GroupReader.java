package org.heterodoop.mr;

import java.io.IOException;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.FileSplit;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.RecordReader;
import org.apache.hadoop.mapred.Reporter;
import org.apache.hadoop.mapred.TextInputFormat;

/**
 * The records of TextInputFormat in one part of an attempt's split after the other. `next` ends with each part, and `begin`
 * goes on with another; or, where one filter may read them all (heterodoop.group.joined), it ends with the last one. A file
 * is opened for its first record: a GPU attempt never does.
 */
final class GroupReader implements RecordReader<LongWritable, Text> {
  private final TextInputFormat format;
  private final FileSplit[] parts;
  private final boolean joined;
  private final long bytes;
  private final JobConf job;
  private final Reporter reporter;
  private int part;
  private long before;
  private RecordReader<LongWritable, Text> real;

  GroupReader(TextInputFormat format, FileSplit split, JobConf job, Reporter reporter) {
    this.format = format;
    this.parts = GroupedSplit.parts(split);
    this.joined = job.getBoolean(Settings.GROUP_JOINED, Settings.GROUP_JOINED_DEFAULT);
    this.bytes = split.getLength();
    this.job = job;
    this.reporter = reporter;
  }

  /** How many times `next` ends. */
  int parts() {
    return joined ? 1 : parts.length;
  }

  /** The next records are those of this part, which comes behind those that were read. */
  FileSplit begin(int number) throws IOException {
    close();
    for (; part < number; part++) {
      before += parts[part].getLength();
    }
    return parts[part];
  }

  @Override
  public boolean next(LongWritable key, Text value) throws IOException {
    for (;;) {
      if (real == null) {
        real = format.getRecordReader(parts[part], job, reporter);
      }
      if (real.next(key, value)) {
        return true;
      }
      if (!joined || part == parts.length - 1) {
        return false;
      }
      begin(part + 1);
    }
  }

  @Override
  public LongWritable createKey() {
    return new LongWritable();
  }

  @Override
  public Text createValue() {
    return new Text();
  }

  @Override
  public long getPos() throws IOException {
    return before + (real == null ? 0 : real.getPos());
  }

  @Override
  public float getProgress() throws IOException {
    float own = real == null ? 0 : real.getProgress() * parts[part].getLength();
    return bytes == 0 ? 0 : Math.min(1, (before + own) / bytes);
  }

  @Override
  public void close() throws IOException {
    if (real != null) {
      real.close();
      real = null;
    }
  }
}

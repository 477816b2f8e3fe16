package org.heterodoop.mr;

import java.io.IOException;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.InputSplit;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.RecordReader;
import org.apache.hadoop.mapred.Reporter;
import org.apache.hadoop.mapred.TextInputFormat;

/** The records of TextInputFormat, whose file is opened for the first record: a GPU attempt never does. */
final class LazyLineReader implements RecordReader<LongWritable, Text> {
  private final TextInputFormat format;
  private final InputSplit split;
  private final JobConf job;
  private final Reporter reporter;
  private RecordReader<LongWritable, Text> real;

  LazyLineReader(TextInputFormat format, InputSplit split, JobConf job, Reporter reporter) {
    this.format = format;
    this.split = split;
    this.job = job;
    this.reporter = reporter;
  }

  @Override
  public boolean next(LongWritable key, Text value) throws IOException {
    if (real == null) {
      real = format.getRecordReader(split, job, reporter);
    }
    return real.next(key, value);
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
    return real == null ? 0 : real.getPos();
  }

  @Override
  public float getProgress() throws IOException {
    return real == null ? 0 : real.getProgress();
  }

  @Override
  public void close() throws IOException {
    if (real != null) {
      real.close();
    }
  }
}

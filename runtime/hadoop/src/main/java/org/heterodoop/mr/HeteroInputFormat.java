package org.heterodoop.mr;

import java.io.IOException;
import org.apache.hadoop.mapred.InputFormat;
import org.apache.hadoop.mapred.InputSplit;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.JobConfigurable;
import org.apache.hadoop.mapred.RecordReader;
import org.apache.hadoop.mapred.Reporter;
import org.apache.hadoop.mapred.TextInputFormat;

/**
 * The input format that a job names, with one difference: each map attempt asks the node's driver before its reader opens.
 *
 * <p>Splits and their hosts are those of the real format (heterodoop.inputformat, TextInputFormat by default), but for
 * mapreduce.input.fileinputformat.split.maxsize.
 */
public final class HeteroInputFormat<K, V> implements InputFormat<K, V>, JobConfigurable {
  private InputFormat<K, V> real;

  @Override
  public void configure(JobConf job) {
    real = InputFormats.make(job);
  }

  @Override
  public InputSplit[] getSplits(JobConf job, int wanted) throws IOException {
    return real.getSplits(job, wanted);
  }

  @Override
  @SuppressWarnings("unchecked")
  public RecordReader<K, V> getRecordReader(InputSplit split, JobConf job, Reporter reporter) throws IOException {
    if (!MapAttempt.begin(split, job, reporter).onGpu()) {
      return real.getRecordReader(split, job, reporter);
    }
    // A GPU is promised for TextInputFormat only (Decline), whose records are these.
    return (RecordReader<K, V>) new LazyLineReader((TextInputFormat) (Object) real, split, job, reporter);
  }
}

package org.heterodoop.mr;

import java.io.IOException;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.RecordWriter;
import org.apache.hadoop.mapred.TextOutputFormat;
import org.apache.hadoop.util.Progressable;

/**
 * TextOutputFormat; in a job without reducers, the text of a GPU attempt goes into the same file as it is.
 *
 * <p>Names, folders and the commit are Hadoop's. Such a job has no map output collector, so this is the only way in.
 */
public final class HeteroOutputFormat<K, V> extends TextOutputFormat<K, V> {
  @Override
  public RecordWriter<K, V> getRecordWriter(FileSystem ignored, JobConf job, String name, Progressable progress)
      throws IOException {
    MapAttempt attempt = job.getNumReduceTasks() == 0 ? MapAttempt.of(job) : null;
    RecordWriters<K, V> text = () -> super.getRecordWriter(ignored, job, name, progress);
    return attempt == null ? text.open() : new TextOutput<>(attempt, text, job, name, progress);
  }

  /** Opens the writer of TextOutputFormat. */
  interface RecordWriters<K, V> {
    RecordWriter<K, V> open() throws IOException;
  }
}

package org.heterodoop.mr;

import java.io.Closeable;
import java.io.IOException;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapred.FileSplit;
import org.apache.hadoop.mapred.JobConf;

/** read=task: sends ranges of the split's files to a driver that cannot read them itself (Kerberos, encryption zones, s3a). */
final class SplitReader implements Closeable {
  private final FileSplit[] parts;
  private final JobConf job;
  private int part;
  private FSDataInputStream in;
  private long fileLength;

  SplitReader(FileSplit split, JobConf job) {
    this.parts = GroupedSplit.parts(split);
    this.job = job;
  }

  /** A range of the file of the part with this number. */
  void send(Connection driver, long number, long offset, long length) throws IOException {
    if (number >= parts.length) {
      throw new ProtocolException("the driver asks for part " + number + " of " + parts.length);
    }
    if (number != part) {
      close();
      in = null;
      part = (int) number;
    }
    if (in == null) {
      Path path = parts[part].getPath();
      FileSystem fs = path.getFileSystem(job);
      fileLength = fs.getFileStatus(path).getLen();
      in = fs.open(path);
    }
    if (offset >= fileLength) {  // HDFS refuses to seek there
      driver.send(Frame.END);
      return;
    }
    in.seek(offset);
    DataFrames.send(driver, in, length);
  }

  @Override
  public void close() throws IOException {
    if (in != null) {
      in.close();
    }
  }
}

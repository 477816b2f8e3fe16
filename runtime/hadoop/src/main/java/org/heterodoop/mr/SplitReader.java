package org.heterodoop.mr;

import java.io.Closeable;
import java.io.IOException;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapred.JobConf;

/** read=task: sends ranges of the split's file to a driver that cannot read it itself (Kerberos, encryption zones, s3a). */
final class SplitReader implements Closeable {
  private final Path path;
  private final JobConf job;
  private FSDataInputStream in;
  private long fileLength;

  SplitReader(Path path, JobConf job) {
    this.path = path;
    this.job = job;
  }

  void send(Connection driver, long offset, long length) throws IOException {
    if (in == null) {
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

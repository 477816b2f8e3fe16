package org.heterodoop.mr;

import java.io.IOException;
import org.apache.hadoop.mapred.Reporter;

/** Where the result of a GPU task goes: the local map output, or the output file of a job without reducers. */
interface ResultTarget {
  /**
   * Takes the bytes that follow RESULT and checks them. On any exception nothing of them is left, and the CPU path may
   * write to the same place; a LeftoverException says that this was not to be had.
   */
  void receive(MapResult result, Connection driver, Reporter reporter) throws IOException;
}

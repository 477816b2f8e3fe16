package org.heterodoop.mr;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ProtocolFamily;
import java.net.SocketAddress;
import java.net.SocketOption;
import java.net.StandardProtocolFamily;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.security.Principal;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.hadoop.mapred.JobConf;

/**
 * Opens the connection: a Unix socket whose other end is the same user, else TCP on the loopback with a proof of both ends.
 *
 * <p>Unix sockets came with Java 16. The jar runs on Java 8 too, so they are reached by reflection.
 */
final class DriverSocket {
  private static final byte[] LOOPBACK = {127, 0, 0, 1};

  private final JobConf job;
  private final String nodeManagerPort;
  private final long silenceMs;

  DriverSocket(JobConf job, String nodeManagerPort) {
    this.job = job;
    this.nodeManagerPort = nodeManagerPort;
    this.silenceMs = job.getInt(Settings.SILENCE_MS, Settings.SILENCE_MS_DEFAULT);
  }

  /**
   * Raises FileNotFoundException where there is no driver, UntrustedException where it may be another user's, other
   * IOExceptions where it does not answer.
   */
  Connection open() throws IOException {
    boolean tcp = job.getBoolean(Settings.DRIVER_TCP, !unixSocketsExist());
    IOException last = null;
    for (Path folder : DriverAddress.folders(job)) {
      if (!Files.exists(folder, LinkOption.NOFOLLOW_LINKS)) {
        continue;
      }
      DriverAddress.checkFolder(folder);
      for (String name : DriverAddress.names(tcp ? ".port" : ".sock", nodeManagerPort)) {
        Path path = folder.resolve(name);
        if (!Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
          continue;
        }
        try {
          return tcp ? openTcp(folder, path) : openUnix(path);
        } catch (UntrustedException e) {
          throw e;
        } catch (IOException e) {
          last = e;  // a socket that a killed driver left; the node's own driver may live
        }
      }
    }
    throw last != null ? last : new FileNotFoundException("no driver listens in " + DriverAddress.folders(job));
  }

  private Connection openUnix(Path path) throws IOException {
    DriverAddress.checkSocket(path);
    SocketChannel channel = connect(unixChannel(), unixAddress(path));
    try {
      Principal peer = peer(channel);
      if (!peer.equals(DriverAddress.owner(path))) {
        throw new UntrustedException(path + " is served by user " + peer.getName());
      }
    } catch (IOException | RuntimeException e) {
      channel.close();
      throw e;
    }
    return new Connection(channel, silenceMs);
  }

  private Connection openTcp(Path folder, Path file) throws IOException {
    byte[] secret = DriverAddress.secret(folder.resolve("secret"));
    SocketAddress address = new InetSocketAddress(InetAddress.getByAddress(LOOPBACK), DriverAddress.port(file));
    Connection made = new Connection(connect(SocketChannel.open(), address), silenceMs);
    try {
      Handshake.run(made, secret);
      return made;
    } catch (IOException | RuntimeException e) {
      made.close();
      throw e;
    }
  }

  /** A connect to a stopped driver whose queue is full waits for ever; closing the channel from here ends it. */
  private SocketChannel connect(SocketChannel channel, SocketAddress address) throws IOException {
    FutureTask<Boolean> connecting = new FutureTask<>(() -> channel.connect(address));
    Thread thread = new Thread(connecting, "heterodoop-connect");
    thread.setDaemon(true);
    thread.start();
    try {
      connecting.get(silenceMs, TimeUnit.MILLISECONDS);
      return channel;
    } catch (TimeoutException e) {
      channel.close();
      throw new IOException("the driver did not accept within " + silenceMs + " ms");
    } catch (ExecutionException e) {
      channel.close();
      throw new IOException("cannot connect to the driver at " + address + ": " + e.getCause().getMessage(), e.getCause());
    } catch (InterruptedException e) {
      channel.close();
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while connecting to the driver");
    }
  }

  static boolean unixSocketsExist() {
    try {
      Class.forName("java.net.UnixDomainSocketAddress");
      return true;
    } catch (ClassNotFoundException e) {
      return false;
    }
  }

  private static SocketChannel unixChannel() throws IOException {
    return (SocketChannel) reflect(() -> SocketChannel.class.getMethod("open", ProtocolFamily.class)
        .invoke(null, StandardProtocolFamily.valueOf("UNIX")));
  }

  private static SocketAddress unixAddress(Path path) throws IOException {
    return (SocketAddress) reflect(() -> Class.forName("java.net.UnixDomainSocketAddress")
        .getMethod("of", Path.class).invoke(null, path));
  }

  /** SO_PEERCRED: the user whose process listens. */
  private static Principal peer(SocketChannel channel) throws IOException {
    return (Principal) reflect(() -> {
      Object option = Class.forName("jdk.net.ExtendedSocketOptions").getField("SO_PEERCRED").get(null);
      Object credentials = channel.getOption((SocketOption<?>) option);
      return credentials.getClass().getMethod("user").invoke(credentials);
    });
  }

  private interface Reflection {
    Object run() throws ReflectiveOperationException, IOException;
  }

  private static Object reflect(Reflection action) throws IOException {
    try {
      return action.run();
    } catch (InvocationTargetException e) {
      throw new IOException(e.getCause());
    } catch (ReflectiveOperationException e) {
      throw new IOException("this Java has no Unix sockets: " + e, e);
    }
  }
}

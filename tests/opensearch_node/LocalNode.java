import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.opensearch.analysis.common.CommonAnalysisPlugin;
import org.opensearch.common.logging.LogConfigurator;
import org.opensearch.common.settings.Setting;
import org.opensearch.common.settings.Settings;
import org.opensearch.env.Environment;
import org.opensearch.http.HttpServerTransport;
import org.opensearch.index.IndexService;
import org.opensearch.index.mapper.MapperExtrasPlugin;
import org.opensearch.knn.plugin.KNNPlugin;
import org.opensearch.node.InternalSettingsPreparer;
import org.opensearch.node.Node;
import org.opensearch.painless.PainlessPlugin;
import org.opensearch.plugins.Plugin;
import org.opensearch.transport.Netty4Plugin;

/** One OpenSearch node with k-NN on the loopback address, its plugins taken from the class path. */
public final class LocalNode extends Node {
    private static final List<Class<? extends Plugin>> PLUGINS = List.of(
        Netty4Plugin.class, PainlessPlugin.class, CommonAnalysisPlugin.class, MapperExtrasPlugin.class,
        KNNPlugin.class, LeaseInterval.class);

    private LocalNode(Environment environment) {
        super(environment, PLUGINS, false);
    }

    /** Makes a setting of what is fixed otherwise: how often retention leases are renewed. A test need not wait 30 s. */
    public static final class LeaseInterval extends Plugin {
        @Override
        public List<Setting<?>> getSettings() {
            return List.of(IndexService.RETENTION_LEASE_SYNC_INTERVAL_SETTING);
        }
    }

    /**
     * Arguments: the folder of its data, the HTTP port (0 takes a free one), the process with which it ends.
     *
     * <p>Its address stands in the folder's file {@code address} once it answers.
     */
    public static void main(String[] args) throws Exception {
        Path home = Path.of(args[0]);
        Settings settings = Settings.builder()
            .put("path.home", home.toString())
            .put("cluster.name", "slate-local")
            .put("node.name", "local")
            .put("network.host", "127.0.0.1")
            .put("http.port", args[1])
            .put("transport.port", "0")
            .put("http.type", "netty4")
            .put("transport.type", "netty4")
            .put("discovery.type", "single-node")
            .put("cluster.routing.allocation.disk.threshold_enabled", false)
            .build();
        LogConfigurator.registerErrorListener();
        Environment environment = InternalSettingsPreparer.prepareEnvironment(
            settings, Map.of(), home.resolve("config"), () -> "local");
        LogConfigurator.configureWithoutConfig(environment.settings());
        LocalNode node = new LocalNode(environment);
        CountDownLatch stopping = new CountDownLatch(1);
        CountDownLatch stopped = new CountDownLatch(1);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            stopping.countDown();
            try {
                stopped.await();
            } catch (InterruptedException ignored) {
                // the process is going down
            }
        }));
        ProcessHandle.of(Long.parseLong(args[2])).orElseThrow().onExit().thenRun(stopping::countDown);
        node.start();
        int port = node.injector().getInstance(HttpServerTransport.class).boundAddress().publishAddress().getPort();
        Path draft = Files.writeString(home.resolve("address.draft"), "http://127.0.0.1:" + port);
        Files.move(draft, home.resolve("address"), StandardCopyOption.ATOMIC_MOVE);
        stopping.await();
        node.close();
        stopped.countDown();
        System.exit(0);
    }
}

using System.Globalization;
using Treepie.Bench.Stores;
using Treepie.Storage;
using Scratch = Treepie.Bench.Measuring.Scratch;

namespace Treepie.Bench.Suites.Fdb;

/// <summary>One engine, one kind of work, for some seconds: what to put under a profiler, and to compare two builds by.</summary>
internal static class FdbProfile
{
    /// <summary>First argument: <c>fdb-profile &lt;engine&gt; &lt;work, from 1&gt; &lt;seconds&gt; &lt;rows&gt;</c>.</summary>
    public const string Verb = "fdb-profile";

    public static void Run(string name, int work, double seconds, int rows)
    {
        using EncryptionKey key = EncryptionKey.Generate();
        StoreEngine engine = StoreEngines.Peers.Append(StoreEngines.Ours)
            .Concat([With(64, null), With(64, key), With(512, null), With(512, key)])
            .First(engine => engine.Name.StartsWith(name, StringComparison.OrdinalIgnoreCase));
        var data = new FdbData(rows);
        using var folder = new Scratch();
        using (IKeyValueStore loading = engine.Open(folder.Path, FdbLoad.Settings with { IsDurable = false }))
        using (IKeyValueSession session = loading.OpenSession())
            FdbLoad.Write(data, session, 0);

        using var store = new FdbStore(engine.Name, engine.Open(folder.Path, FdbLoad.Settings), data, new uint[rows]);
        store.Run(FdbWork.All[work - 1], TimeSpan.FromSeconds(1), 1 << 24);
        for (int i = 0; i < 5; i++)
        {
            FdbFigures figures = store.Run(FdbWork.All[work - 1], TimeSpan.FromSeconds(seconds / 5), (uint)(i + 2) << 24);
            Console.WriteLine(string.Create(
                CultureInfo.InvariantCulture,
                $"{engine.Name}, {FdbWork.All[work - 1].Name}: {figures.PerSecond:N0} tx/s, p50 {figures.P50:0.0} µs, p99 "
                    + $"{figures.P99:0.0} µs, {figures.CpuPerKey:0.000} µs CPU/key, {figures.DiskPerPayload:0.0}× written, "
                    + $"{figures.JournalPerPayload:0.0}× journal, {figures.AllocatedPerTransaction:N0} bytes/tx"));
        }
    }

    /// <summary>Ours in a size of memory, without a key or with one: <c>64-MiB-plain</c>, <c>512-MiB-encrypted</c>.</summary>
    private static StoreEngine With(int megabytes, EncryptionKey? key) => new(
        $"{megabytes}-MiB-{(key is null ? "plain" : "encrypted")}", IsPresent: true,
        (path, settings) => new TreepieStore(path, settings, key, (long)megabytes << 20));
}

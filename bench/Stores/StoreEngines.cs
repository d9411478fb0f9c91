using Treepie.Bench.Peers;

namespace Treepie.Bench.Stores;

/// <summary>The engines that the key/value suites compare.</summary>
internal static class StoreEngines
{
    /// <summary>Ours.</summary>
    public static StoreEngine Ours => TreepieStore.Engine;

    /// <summary>The peers, present or not.</summary>
    public static IReadOnlyList<StoreEngine> Peers { get; } = [Lmdb.Engine, RocksDb.Engine, SqliteStore.Engine];
}
